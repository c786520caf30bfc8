// constant: a tensor known when the graph is made. It runs nothing; the executor keeps its bytes.
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) {
  require(call.attrs.find("value") != nullptr, "constant", "expected an attribute 'value', got none");
  const Tensor& value = call.attrs.tensor("value");
  require(value.defined() && !value.is_symbolic(), "constant", "expected a concrete tensor");
  return {value.type()};
}

Cost cost(const OpCall&, std::span<const TensorType>) { return {}; }

constexpr AttrDef kAttrs[] = {{"value", AttrKind::tensor}};
constexpr OpDef kDefs[] = {
    {.name = "constant", .arity = {0, 0}, .attrs = kAttrs, .infer = infer, .cost = cost}};

}  // namespace

std::span<const OpDef> ops_constant() { return kDefs; }

}  // namespace plimsoll

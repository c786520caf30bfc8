#include "complex_ops.h"

#include <algorithm>
#include <array>

#include "ops/complex_parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll::python {
namespace {

constexpr std::array<std::string_view, 5> kBinary = {"add", "subtract", "multiply", "divide", "power"};
constexpr std::array<std::string_view, 2> kCompare = {"equal", "not_equal"};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// A function of one element, without attributes.
bool is_unary(const OpDef& op) { return op.tile != nullptr && op.arity.most == 1 && op.attrs.empty(); }

Tensor padded(const Tensor& z, const Attrs& attrs) {
  require(attrs.real("value") == 0, "pad", "expected complex numbers to be padded with 0, got ",
          attrs.real("value"));
  Ints low = attrs.ints("low"), high = attrs.ints("high"), interior = attrs.ints("interior");
  low.push_back(0);
  high.push_back(0);
  if (!interior.empty()) interior.push_back(0);
  return from_pairs(pad(pairs(z), low, high, interior));
}

}  // namespace

std::optional<Tensor> complex_op(const OpDef& op, std::span<const Tensor> in, const Attrs& given) {
  const std::string_view name = op.name;
  const auto count = static_cast<int>(in.size());
  if (count < op.arity.least || count > op.arity.most) return std::nullopt;  // the engine says what is wrong
  if (name == "cast") {
    const DType to = given.dtype("dtype");
    if (!is_complex(to) && !is_complex(in[0].dtype())) return std::nullopt;
    return cast(in[0], to);
  }
  if (std::ranges::none_of(in, [](const Tensor& t) { return is_complex(t.dtype()); })) return std::nullopt;
  const Attrs attrs = complete_attrs(op, given);
  if (name == "broadcast_to") return broadcast_to(in[0], Shape(attrs.ints("shape")));
  if (name == "where") return where(in[0], in[1], in[2]);
  if (name == "reduce_sum") return complex_sum(in[0], attrs.ints("axes"), attrs.flag("keepdims"));
  if (name == "pad") return padded(in[0], attrs);
  if (name == "scatter_nd")
    return from_pairs(scatter_nd(pairs(in[0]), in[1], pairs(in[2]), attrs.string("mode")));
  if (name == "dot_general")
    return dot_general(in[0], in[1], attrs.ints("a_contract"), attrs.ints("b_contract"),
                       attrs.ints("a_batch"), attrs.ints("b_batch"));
  if (among(kBinary, name)) return complex_binary(name, in[0], in[1]);
  if (among(kCompare, name)) return complex_compare(name, in[0], in[1]);
  if (is_unary(op)) return complex_unary(name, in[0]);
  return std::nullopt;
}

}  // namespace plimsoll::python

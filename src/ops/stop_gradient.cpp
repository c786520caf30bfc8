// stop_gradient(x): x, through which no gradient flows. Runs nothing.
#include "graph/rows.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

std::vector<TensorType> infer(const OpCall& call) { return {call.in[0]}; }

std::optional<RowSplit> rows(const RowQuery& q) { return rows_but(q, {}); }

std::vector<OpCase> cases() {
  return {{{{{3, 5}}}, {}, false}, {{{{}}}, {}, false}, {{{{0, 2}}}, {}, false}};
}

constexpr OpDef kDefs[] = {{.name = "stop_gradient",
                            .infer = infer,
                            .alias = true,
                            .rows = rows,
                            .cases = cases,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_stop_gradient() { return kDefs; }

Tensor stop_gradient(const Tensor& x) { return x.is_symbolic() ? apply1(kDefs[0], {x}) : x; }

}  // namespace plimsoll

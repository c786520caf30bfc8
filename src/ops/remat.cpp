// remat(operands..., captured...): a sub-graph that becomes its nodes before anything runs. Its gradient does
// not read the results of those nodes: it computes them again, from operands that it takes up when the
// gradient has come.
#include <cstring>

#include "graph/grad.h"
#include "graph/rows.h"
#include "ops/sub_graph.h"
#include "ops/vjp_parts.h"

namespace plimsoll {
namespace {

using namespace sub_graph;

std::vector<TensorType> infer_remat(const OpCall& call) {
  require_inputs("remat", *call.attrs.graph("body"), call.in);
  return output_types(*call.attrs.graph("body"));
}

std::vector<Tensor> inlined(std::span<const Tensor> in, const Attrs& attrs) {
  return inline_graph(*attrs.graph("body"), in);
}

void grad_remat(GradContext& g) {
  std::vector<Tensor> dout, in;
  Tensor come;
  for (int i = 0; i < g.outputs(); ++i) {
    dout.push_back(g.has_dout(i) ? g.dout(i) : Tensor());
    if (g.has_dout(i)) come = g.dout(i);
  }
  for (int i = 0; i < g.inputs(); ++i)
    in.push_back(i < g.attrs().integer("operands") ? apply1(get_op("after"), {g.in(i), come}) : g.in(i));
  const std::vector<Tensor> din = vjp_of_parts(get_op("remat"), in, g.attrs(), dout);
  for (int i = 0; i < g.inputs(); ++i) {
    if (g.wants(i)) g.set(i, din[static_cast<size_t>(i)]);
  }
}

// after(x, y): x, but not before y is there. Equal nodes become one: what reads this is equal to nothing
// before it.
std::vector<TensorType> infer_after(const OpCall& call) { return {call.in[0]}; }

struct AfterState {
  size_t bytes;
};
void run_after(const AfterState& s, void* const* args) {
  if (args[2] != args[0]) std::memcpy(args[2], args[0], s.bytes);
}
Kernel prepare_after(const KernelQuery& q) {
  return make_kernel<AfterState, run_after>("copy", {static_cast<size_t>(bytes_of(q.in[0]))});
}
uint64_t in_place_after(const OpCall&, int) { return 1; }
void grad_after(GradContext& g) { g.set(0, g.dout()); }

// It does not matter which rows of y are there.
std::optional<RowSplit> rows_after(const RowQuery& q) {
  if (q.given == 1) return std::nullopt;
  const Shape& y = q.call.in[1].shape;
  const int64_t count = q.count();
  const bool has_rows = y.rank() > 0 && y[0] > 0 && y[0] % count == 0;
  return RowSplit{{q.rows, has_rows ? Rows{0, y[0] / count} : Rows{}}, {q.rows}};
}

std::vector<OpCase> cases_after() {
  return {{{{{3, 5}}, {{2}}}, {}}, {{{{}}, {{0, 2}, -2, 2, DType::i32}}, {}}, {{{{0, 2}}, {{1}}}, {}}};
}

constexpr AttrDef kAttrs[] = {{"body", AttrKind::graph}, {"operands", AttrKind::integer}};
constexpr KernelDef kAfter[] = {{.name = "reference", .prepare = prepare_after}};
constexpr OpDef kDefs[] = {{.name = "remat",
                            .arity = {0, kAnyNumber},
                            .attrs = kAttrs,
                            .infer = infer_remat,
                            .grad = grad_remat,
                            .decompose = inlined},
                           {.name = "after",
                            .arity = {2, 2},
                            .infer = infer_after,
                            .grad = grad_after,
                            .kernels = kAfter,
                            .in_place = in_place_after,
                            .rows = rows_after,
                            .cases = cases_after,
                            .dtypes = kAllReal}};

}  // namespace

std::span<const OpDef> ops_remat() { return kDefs; }

std::vector<Tensor> remat(std::span<const Tensor> operands, const Body& body) {
  std::vector<Tensor> in(operands.begin(), operands.end());
  Graph* outer = graph_of(in);
  if (outer == nullptr) return body(operands);
  Trace trace(outer, types_of(operands));
  trace.outputs(body(trace.inputs));
  append_captures(in, *trace.graph, outer);
  return apply(kDefs[0], in, {{"body", trace.done()}, {"operands", static_cast<int64_t>(operands.size())}});
}

}  // namespace plimsoll

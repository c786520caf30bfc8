// cond(predicate, operands...): one of two sub-graphs.
#include <algorithm>

#include "graph/grad.h"
#include "ops/sub_graph.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace sub_graph;

std::vector<TensorType> infer_cond(const OpCall& call) {
  require(call.in[0] == TensorType{DType::boolean, {}}, "cond", "expected a bool scalar, got ", call.in[0]);
  const Graph& yes = *call.attrs.graph("if_true");
  const Graph& no = *call.attrs.graph("if_false");
  require_inputs("cond", yes, call.in.subspan(1));
  require_inputs("cond", no, call.in.subspan(1));
  require(output_types(yes) == output_types(no), "cond", "expected both branches to return the same types");
  return output_types(yes);
}

struct CondState {
  std::shared_ptr<const SubProgram> yes, no;
  size_t in, out;
  int64_t held() const { return yes->bytes() + no->bytes(); }
};

void run_cond(const CondState& s, void* const* args) {
  const SubProgram& branch = *static_cast<const uint8_t*>(args[0]) ? *s.yes : *s.no;
  branch.run(args + 1, args + s.in, args[s.in + s.out]);
}

Kernel prepare_cond(const KernelQuery& q) {
  CondState s{q.compiler->compile(*q.attrs.graph("if_true")), q.compiler->compile(*q.attrs.graph("if_false")),
              q.in.size(), q.out.size()};
  const int64_t scratch = std::max({s.yes->arena_bytes(), s.no->arena_bytes(), kAlign});
  return make_kernel<CondState, run_cond>("branch", std::move(s), scratch);
}

// d(operands) of one branch, as a body over (operands..., douts...).
std::shared_ptr<const Graph> branch_gradient(const Graph& branch, const GradContext& g,
                                             const std::vector<int>& wanted, std::span<const Tensor> operands,
                                             std::span<const Tensor> douts) {
  std::vector<TensorType> types = types_of(operands);
  for (const Tensor& t : douts) types.push_back(t.type());
  Trace trace(nullptr, types);
  const std::span<const Tensor> in = std::span(trace.inputs).first(operands.size());
  const std::vector<Tensor> out = inline_graph(branch, in);
  std::vector<Tensor> ys, dys, xs;
  for (int i = 0, k = 0; i < g.outputs(); ++i) {
    if (!g.has_dout(i)) continue;
    const Tensor& dy = trace.inputs[operands.size() + static_cast<size_t>(k++)];
    if (!out[static_cast<size_t>(i)].is_symbolic()) continue;
    ys.push_back(out[static_cast<size_t>(i)]);
    dys.push_back(dy);
  }
  for (const int i : wanted) xs.push_back(in[static_cast<size_t>(i)]);
  if (ys.empty()) {
    for (const Tensor& x : xs) trace.graph->output("", zeros_like(x));
    return trace.done();
  }
  trace.outputs(gradients(ys, xs, dys));
  return trace.done();
}

void grad_cond(GradContext& g) {
  std::vector<Tensor> operands, douts;
  std::vector<int> wanted;
  for (int i = 1; i < g.inputs(); ++i) {
    operands.push_back(g.in(i));
    if (g.wants(i)) wanted.push_back(i - 1);
  }
  for (int i = 0; i < g.outputs(); ++i) {
    if (g.has_dout(i)) douts.push_back(g.dout(i));
  }
  std::vector<Tensor> in = {g.in(0)};
  in.insert(in.end(), operands.begin(), operands.end());
  in.insert(in.end(), douts.begin(), douts.end());
  const auto yes = branch_gradient(*g.attrs().graph("if_true"), g, wanted, operands, douts);
  const auto no = branch_gradient(*g.attrs().graph("if_false"), g, wanted, operands, douts);
  const std::vector<Tensor> d = apply(get_op("cond"), in, {{"if_true", yes}, {"if_false", no}});
  for (size_t k = 0; k < wanted.size(); ++k) g.set(wanted[k] + 1, d[k]);
}

constexpr AttrDef kAttrs[] = {{"if_true", AttrKind::graph}, {"if_false", AttrKind::graph}};
// Of the branch that takes more.
Cost cost_cond(const OpCall& call, std::span<const TensorType>) {
  const Cost yes = cost_of_body(*call.attrs.graph("if_true")),
             no = cost_of_body(*call.attrs.graph("if_false"));
  return {std::max(yes.flops, no.flops), std::max(yes.bytes, no.bytes)};
}

constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare_cond}};

}  // namespace

std::vector<Tensor> cond(const Tensor& predicate, std::span<const Tensor> operands, const Body& if_true,
                         const Body& if_false) {
  std::vector<Tensor> in = {predicate};
  in.insert(in.end(), operands.begin(), operands.end());
  const auto [yes, no] = trace_both(types_of(operands), if_true, if_false, in);
  return apply(get_op("cond"), in, {{"if_true", yes}, {"if_false", no}});
}

// Halves of the branches, and halves of those.
std::vector<Tensor> switch_case(const Tensor& index, std::span<const Tensor> operands,
                                std::span<const Body> branches) {
  require(!branches.empty(), "switch_case", "expected at least one branch");
  require(index.rank() == 0 && is_integer(index.dtype()), "switch_case", "expected an integer scalar, got ",
          index.type());
  const size_t half = branches.size() / 2;
  if (half == 0) return branches[0](operands);
  const Tensor rest = cast(index, DType::i64) - static_cast<double>(half);
  const auto among = [](const Tensor& i, std::span<const Body> some) {
    return [=](std::span<const Tensor> in) { return switch_case(i, in, some); };
  };
  return cond(less(rest, scalar_like(rest, 0)), operands, among(index, branches.first(half)),
              among(rest, branches.subspan(half)));
}

std::span<const OpDef> ops_cond() {
  static constexpr OpDef defs[] = {{.name = "cond",
                                    .arity = {1, kAnyNumber},
                                    .attrs = kAttrs,
                                    .infer = infer_cond,
                                    .grad = grad_cond,
                                    .kernels = kKernels,
                                    .cost = cost_cond}};
  return defs;
}

}  // namespace plimsoll

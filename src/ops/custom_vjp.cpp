// custom_vjp(ys..., xs..., captured...): the ys, whose gradients go to the xs through the sub-graph
// `backward`. It becomes the ys themselves before anything runs.
#include "graph/grad.h"
#include "ops/sub_graph.h"

namespace plimsoll {
namespace {

using namespace sub_graph;

std::vector<TensorType> infer(const OpCall& call) {
  const auto ys = static_cast<size_t>(call.attrs.integer("ys")),
             xs = static_cast<size_t>(call.attrs.integer("xs"));
  require(ys + xs <= call.in.size(), "custom_vjp", "expected ", ys, " ys and ", xs, " xs, got ",
          call.in.size(), " inputs");
  const Graph& backward = *call.attrs.graph("backward");
  std::vector<TensorType> in(call.in.begin(), call.in.begin() + static_cast<int64_t>(ys));
  in.insert(in.end(), call.in.begin() + static_cast<int64_t>(ys + xs), call.in.end());
  require_inputs("custom_vjp", backward, in);
  const std::vector<TensorType> out = output_types(backward);
  require(out.size() == xs, "custom_vjp", "expected a gradient for each of ", xs, " operands, got ",
          out.size());
  for (size_t i = 0; i < xs; ++i) {
    require(out[i] == call.in[ys + i], "custom_vjp", "expected a gradient of type ", call.in[ys + i],
            ", got ", out[i]);
  }
  return {call.in.begin(), call.in.begin() + static_cast<int64_t>(ys)};
}

std::vector<Tensor> themselves(std::span<const Tensor> in, const Attrs& attrs) {
  return {in.begin(), in.begin() + attrs.integer("ys")};
}

void grad(GradContext& g) {
  const int ys = static_cast<int>(g.attrs().integer("ys")), xs = static_cast<int>(g.attrs().integer("xs"));
  std::vector<Tensor> in;
  for (int i = 0; i < ys; ++i) in.push_back(g.has_dout(i) ? g.dout(i) : zeros_like(g.out(i)));
  for (int i = ys + xs; i < g.inputs(); ++i) in.push_back(g.in(i));
  const std::vector<Tensor> d = inline_graph(*g.attrs().graph("backward"), in);
  for (int i = 0; i < xs; ++i) g.set(ys + i, d[static_cast<size_t>(i)]);
}

constexpr AttrDef kAttrs[] = {
    {"backward", AttrKind::graph}, {"ys", AttrKind::integer}, {"xs", AttrKind::integer}};
constexpr OpDef kDefs[] = {{.name = "custom_vjp",
                            .arity = {1, kAnyNumber},
                            .attrs = kAttrs,
                            .infer = infer,
                            .grad = grad,
                            .decompose = themselves}};

}  // namespace

std::span<const OpDef> ops_custom_vjp() { return kDefs; }

std::vector<Tensor> custom_vjp(std::span<const Tensor> ys, std::span<const Tensor> xs, const Body& backward) {
  std::vector<Tensor> in(ys.begin(), ys.end());
  in.insert(in.end(), xs.begin(), xs.end());
  Graph* outer = graph_of(in);
  if (outer == nullptr) return {ys.begin(), ys.end()};
  Trace trace(outer, types_of(ys));
  trace.outputs(backward(trace.inputs));
  append_captures(in, *trace.graph, outer);
  return apply(kDefs[0], in,
               {{"backward", trace.done()},
                {"ys", static_cast<int64_t>(ys.size())},
                {"xs", static_cast<int64_t>(xs.size())}});
}

}  // namespace plimsoll

// Ops that no kernel fits become their parts, and the parts theirs.
#include "device/kernel.h"
#include "graph/op.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace plimsoll {
namespace {

constexpr int kMaxRounds = 8;  // of ops made of ops made of ops

bool has_kernel(const Graph& graph, const Node& node) {
  std::vector<TensorType> in, out;
  for (const ValueId v : node.inputs) in.push_back(graph.type(v));
  for (const ValueId v : node.outputs) out.push_back(graph.type(v));
  const KernelQuery query{in, out, node.attrs};
  for (const KernelDef& k : node.op->kernels) {
    if (!k.fits || k.fits(query)) return true;
  }
  return false;
}

bool has_no_kernel(const Graph& graph, const Node& node) {
  return !node.op->tile && !has_kernel(graph, node);
}

}  // namespace

Graph lower_where(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& must) {
  Graph current = Rewriter(graph).copy_all();
  for (int round = 0; round < kMaxRounds; ++round) {
    Rewriter r(current);
    bool changed = false;
    for (NodeId n = 0; n < current.nodes().size(); ++n) {
      const Node& node = current.node(n);
      if (!r.live(n)) continue;
      if (!node.op->decompose || !must(current, node)) {
        r.copy(n);
        continue;
      }
      const std::string layer = r.graph().set_layer(node.layer);
      r.set(n, node.op->decompose(r.tensors(node.inputs), node.attrs));
      r.graph().set_layer(layer);
      changed = true;
    }
    if (!changed) return current;
    current = r.finish();
  }
  return current;
}

Graph pass_lower(const Graph& graph) { return lower_where(graph, has_no_kernel); }

}  // namespace plimsoll

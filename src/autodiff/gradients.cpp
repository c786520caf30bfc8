// The one reverse walk. It knows no op by name: each op's gradient is in its own file, and an op without one
// is differentiated through its decomposition, or passes nothing on.
#include <algorithm>
#include <memory>
#include <unordered_map>

#include "autodiff/vjp.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

Tensor filled(Graph& graph, const TensorType& type, double value) {
  return broadcast_to(graph.constant(Tensor::full(type.dtype, {}, value)), type.shape);
}

// Gradients that have reached each value so far.
class Cotangents {
 public:
  void add(ValueId value, const Tensor& gradient) {
    const auto [it, fresh] = sums_.try_emplace(value, gradient);
    if (!fresh) it->second = plimsoll::add(it->second, gradient);
  }
  Tensor get(ValueId value) const {
    const auto it = sums_.find(value);
    return it == sums_.end() ? Tensor() : it->second;
  }

 private:
  std::unordered_map<ValueId, Tensor> sums_;
};

bool passes_on(const OpDef& op) { return op.grad != nullptr || op.decompose != nullptr; }

class Walk {
 public:
  Walk(Graph& graph, std::span<const Tensor> xs, NodeId first, NodeId end)
      : graph_(graph), first_(first), end_(end), depends_(graph.values().size(), false) {
    for (const Tensor& x : xs) depends_[x.id()] = true;
    for (NodeId n = first; n < end; ++n) {
      const Node& node = graph.node(n);
      if (!passes_on(*node.op)) continue;
      const bool any =
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return depends_[v]; });
      for (const ValueId v : node.outputs) depends_[v] = depends_[v] || (any && differentiable(v));
    }
  }

  void run(Cotangents& cotangents) {
    for (NodeId n = end_; n-- > first_;) visit(n, cotangents);
  }

 private:
  bool differentiable(ValueId v) const {
    return is_float(graph_.type(v).dtype) || is_complex(graph_.type(v).dtype);
  }

  std::vector<Tensor> handles(const std::vector<ValueId>& ids) const {
    std::vector<Tensor> out;
    out.reserve(ids.size());
    for (const ValueId v : ids) out.push_back(Tensor(graph_, v));
    return out;
  }

  void visit(NodeId n, Cotangents& cotangents) {
    const Node node = graph_.node(n);  // a copy: gradients add nodes
    if (!passes_on(*node.op)) return;
    std::vector<Tensor> dout;
    bool reached = false;
    for (const ValueId v : node.outputs) {
      dout.push_back(depends_[v] ? cotangents.get(v) : Tensor());
      reached = reached || dout.back().defined();
    }
    if (!reached) return;
    const std::unique_ptr<bool[]> wanted(new bool[node.inputs.size()]);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      wanted[i] = depends_[node.inputs[i]] && differentiable(node.inputs[i]);
    const std::vector<Tensor> in = handles(node.inputs);
    const std::span<const bool> want(wanted.get(), node.inputs.size());
    const std::string layer = graph_.set_layer(node.layer);
    const std::vector<Tensor> din =
        node.op->grad ? by_rule(node, in, dout, want) : by_parts(node, in, dout, want);
    for (size_t i = 0; i < din.size(); ++i) {
      if (!want[i] || !din[i].defined()) continue;
      if (!(din[i].type() == in[i].type())) {
        fail(ErrorKind::internal, node.op->name, "gradient of input ", i, " has type ", din[i].type(),
             ", expected ", in[i].type());
      }
      cotangents.add(node.inputs[i], din[i]);
    }
    graph_.set_layer(layer);
  }

  std::vector<Tensor> by_rule(const Node& node, std::span<const Tensor> in, std::span<const Tensor> dout,
                              std::span<const bool> wanted) const {
    const std::vector<Tensor> out = handles(node.outputs);
    GradContext context(in, out, dout, node.attrs, wanted);
    node.op->grad(context);
    return context.result();
  }

  std::vector<Tensor> by_parts(const Node& node, std::span<const Tensor> in, std::span<const Tensor> dout,
                               std::span<const bool> wanted) const {
    const NodeId first = static_cast<NodeId>(graph_.nodes().size());
    const std::vector<Tensor> out = node.op->decompose(in, node.attrs);
    std::vector<Tensor> xs, din(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      if (wanted[i]) xs.push_back(in[i]);
    }
    const std::vector<Tensor> dxs = vjp(out, dout, xs, first);
    for (size_t i = 0, k = 0; i < in.size(); ++i) {
      if (wanted[i]) din[i] = dxs[k++];
    }
    return din;
  }

  Graph& graph_;
  NodeId first_, end_;
  std::vector<bool> depends_;
};

}  // namespace

std::vector<Tensor> vjp(std::span<const Tensor> ys, std::span<const Tensor> dys, std::span<const Tensor> xs,
                        NodeId first) {
  if (xs.empty()) return {};
  Graph& graph = xs.front().graph();
  const NodeId end = static_cast<NodeId>(graph.nodes().size());
  Cotangents cotangents;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (!dys[i].defined() || !ys[i].is_symbolic()) continue;
    cotangents.add(ys[i].id(), dys[i].is_symbolic() ? dys[i] : graph.constant(dys[i]));
  }
  Walk(graph, xs, first, end).run(cotangents);
  std::vector<Tensor> out;
  for (const Tensor& x : xs) out.push_back(cotangents.get(x.id()));
  return out;
}

std::vector<Tensor> gradients(std::span<const Tensor> ys, std::span<const Tensor> xs,
                              std::span<const Tensor> dys) {
  require(!ys.empty() && ys.size() == dys.size(), "gradients", "expected as many dys as ys, got ", dys.size(),
          " and ", ys.size());
  if (xs.empty()) return {};
  Graph* graph = xs.front().is_symbolic() ? &xs.front().graph() : nullptr;
  const auto check = [&](const Tensor& t, std::string_view what) {
    require(graph && t.is_symbolic() && &t.graph() == graph, "gradients", "expected values of one graph as ",
            what);
    require(is_float(t.dtype()) || is_complex(t.dtype()), "gradients", "expected floats as ", what, ", got ",
            t.type());
  };
  for (const Tensor& x : xs) check(x, "x");
  for (size_t i = 0; i < ys.size(); ++i) {
    if (!dys[i].defined()) continue;
    check(ys[i], "y");
    require(dys[i].type() == ys[i].type(), "gradients", "expected dy of type ", ys[i].type(), ", got ",
            dys[i].type());
  }
  std::vector<Tensor> out = vjp(ys, dys, xs, 0);
  for (size_t i = 0; i < xs.size(); ++i) {
    if (!out[i].defined()) out[i] = filled(*graph, xs[i].type(), 0.0);
  }
  return out;
}

std::vector<Tensor> gradients(const Tensor& y, std::span<const Tensor> xs, const Tensor& dy) {
  require(y.is_symbolic(), "gradients",
          "expected a value of a graph to differentiate, got a concrete tensor");
  require(is_float(y.dtype()) || is_complex(y.dtype()), "gradients", "expected floats as y, got ", y.type());
  const Tensor seed = dy.defined() ? dy : filled(y.graph(), y.type(), 1.0);
  return gradients(std::span(&y, 1), xs, std::span(&seed, 1));
}

}  // namespace plimsoll

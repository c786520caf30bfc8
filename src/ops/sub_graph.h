// What the ops with sub-graphs (cond, while_loop, scan) share. A sub-graph's inputs are the operands, then
// what its body captured from the graph around it; its arena is part of the node's scratch.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "device/aligned.h"
#include "device/kernel.h"
#include "graph/capabilities.h"
#include "graph/op.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll::sub_graph {

inline int64_t bytes_of(const TensorType& t) { return byte_size(t.dtype, t.shape); }
inline char* at(void* base, int64_t offset) { return static_cast<char*>(base) + offset; }

inline Tensor zeros_like(const Tensor& t) {
  const Tensor zero = scalar_like(t, 0);
  return broadcast_to(t.is_symbolic() ? t.graph().constant(zero) : zero, t.shape());
}

inline std::vector<TensorType> output_types(const Graph& g) {
  std::vector<TensorType> out;
  for (const GraphOutput& o : g.outputs()) out.push_back(g.type(o.value));
  return out;
}

// What `rounds` runs of a sub-graph cost.
inline Cost cost_of_body(const Graph& body, int64_t rounds = 1) {
  Cost sum;
  for (const Node& node : body.nodes()) {
    const NodeCall n(body, node);
    const Cost one = cost_of(n.call(), n.out);
    sum.flops += static_cast<double>(rounds) * one.flops;
    sum.bytes += static_cast<double>(rounds) * one.bytes;
  }
  return sum;
}

inline void require_inputs(std::string_view op, const Graph& body, std::span<const TensorType> in) {
  require(body.inputs().size() == in.size(), op, "expected a body with ", in.size(), " inputs, got ",
          body.inputs().size());
  for (size_t i = 0; i < in.size(); ++i) {
    require(body.type(body.inputs()[i].value) == in[i], op, "expected body input ", i, " of type ", in[i],
            ", got ", body.type(body.inputs()[i].value));
  }
  require(body.variables().empty(), op, "expected a body without variables");
}

// The graph that the tensors belong to, if one does.
inline Graph* graph_of(std::span<const Tensor> tensors) {
  Graph* graph = nullptr;
  for (const Tensor& t : tensors) {
    if (t.is_symbolic() && (!graph || t.graph().is_inside(*graph))) graph = &t.graph();
  }
  return graph;
}

// A sub-graph under construction: inputs of the given types, captures from `outer`.
struct Trace {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Tensor> inputs;

  Trace(Graph* outer, std::span<const TensorType> types) {
    graph->set_outer(outer);
    for (const TensorType& t : types) inputs.push_back(graph->input("", t.dtype, t.shape));
  }
  void outputs(std::span<const Tensor> values) {
    for (const Tensor& t : values) graph->output("", t);
  }
  std::shared_ptr<const Graph> done() {
    graph->set_outer(nullptr);
    return graph;
  }
};

inline std::vector<TensorType> types_of(std::span<const Tensor> tensors) {
  std::vector<TensorType> out;
  for (const Tensor& t : tensors) out.push_back(t.type());
  return out;
}

inline void append_captures(std::vector<Tensor>& operands, const Graph& body, Graph* outer) {
  for (const GraphCapture& c : body.captures()) operands.push_back(Tensor(*outer, c.outer));
}

// Gives `body` the captures of `other` that it lacks, so that both take the same inputs. Requires: those of
// `body` are the first of `other`'s.
inline void capture_the_rest(Graph& body, const Graph& other, Graph* outer) {
  for (size_t i = body.captures().size(); i < other.captures().size(); ++i) {
    body.capture(Tensor(*outer, other.captures()[i].outer));
  }
}

// Two bodies of a node over the same inputs, traced so that both capture the same; those are added to
// `operands`.
inline std::pair<std::shared_ptr<const Graph>, std::shared_ptr<const Graph>> trace_both(
    std::span<const TensorType> types, const Body& one, const Body& two, std::vector<Tensor>& operands) {
  Graph* outer = graph_of(operands);
  Trace first(outer, types), second(outer, types);
  first.outputs(one(first.inputs));
  capture_the_rest(*second.graph, *first.graph, outer);
  second.outputs(two(second.inputs));
  capture_the_rest(*first.graph, *second.graph, outer);
  append_captures(operands, *second.graph, outer);
  return {first.done(), second.done()};
}

// Where a loop keeps its state: two copies that take turns, so that a round never writes what it reads.
struct Turns {
  std::vector<int64_t> offsets;  // of each value in a copy
  std::vector<int64_t> sizes;
  int64_t stride = 0;  // bytes of a copy

  explicit Turns(std::span<const TensorType> state) {
    for (const TensorType& t : state) {
      offsets.push_back(stride);
      sizes.push_back(bytes_of(t));
      stride += aligned(bytes_of(t));
    }
  }
  char* get(void* scratch, int copy, size_t i) const { return at(scratch, copy * stride + offsets[i]); }
};

// The pointers of a loop's body, inputs and then outputs, at the beginning of its scratch.
struct Pointers {
  void** in;
  void** next;
  Pointers(void* scratch, size_t inputs) : in(static_cast<void**>(scratch)), next(in + inputs) {}
  static int64_t bytes(size_t inputs, size_t outputs) {
    return aligned(static_cast<int64_t>((inputs + outputs) * sizeof(void*)));
  }
};

}  // namespace plimsoll::sub_graph

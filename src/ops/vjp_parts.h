// The gradient of an op through its decomposition: how the gradient ops of large layers run where no kernel
// fits, and how they are differentiated again.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"

namespace plimsoll {

// Sum over i of dout[i] times the derivative of output i of `op` by each of `in`; undefined douts count as
// zero, and those of operands that are no floats are undefined. Traced in a graph of its own, since here one
// operand may depend on another.
inline std::vector<Tensor> vjp_of_parts(const OpDef& op, std::span<const Tensor> in, const Attrs& attrs,
                                        std::span<const Tensor> dout) {
  Graph graph;
  std::unordered_map<ValueId, Tensor> outside;
  const auto enter = [&](const Tensor& t) {
    if (!t.defined()) return Tensor();
    const Tensor inner = graph.input("", t.dtype(), t.shape());
    outside.emplace(inner.id(), t);
    return inner;
  };
  std::vector<Tensor> xs, ys, dys;
  for (const Tensor& t : in) xs.push_back(enter(t));
  ys = op.decompose(xs, attrs);
  for (size_t i = 0; i < ys.size(); ++i) dys.push_back(i < dout.size() ? enter(dout[i]) : Tensor());
  std::vector<Tensor> floats;
  for (const Tensor& x : xs) {
    if (is_float(x.dtype()) || is_complex(x.dtype())) floats.push_back(x);
  }
  const std::vector<Tensor> dxs = gradients(ys, floats, dys);
  for (const Node& node : graph.nodes()) {
    std::vector<Tensor> operands;
    for (const ValueId v : node.inputs) operands.push_back(outside.at(v));
    const std::vector<Tensor> results = apply(*node.op, operands, node.attrs);
    for (size_t i = 0; i < results.size(); ++i) outside.emplace(node.outputs[i], results[i]);
  }
  std::vector<Tensor> result(xs.size());
  for (size_t i = 0, k = 0; i < xs.size(); ++i) {
    if (k < floats.size() && xs[i].id() == floats[k].id()) result[i] = outside.at(dxs[k++].id());
  }
  return result;
}

}  // namespace plimsoll

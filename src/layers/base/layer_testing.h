// For tests: a layer run once on concrete tensors.
#pragma once

#include <vector>

#include "layers/base/trace.h"
#include "plimsoll/program.h"

namespace plimsoll {

inline std::vector<Tensor> run_layer(const Layer& layer, const std::vector<Tensor>& xs,
                                     bool training = false) {
  Graph graph;
  Trace trace(graph, training);
  std::vector<Tensor> inputs;
  for (const Tensor& x : xs) inputs.push_back(graph.input("x", x.dtype(), x.shape()));
  for (const Tensor& y : trace.call(layer, inputs)) graph.output("y", y);
  trace.add_updates();
  return Program::compile(graph)(xs);
}

inline Tensor run_layer(const Layer& layer, const Tensor& x, bool training = false) {
  return run_layer(layer, std::vector<Tensor>{x}, training)[0];
}

}  // namespace plimsoll

// A layer on values: its computation in a graph of its own, which runs once.
#include "layers/base/index_ranges.h"
#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll {

std::vector<Tensor> Layer::outputs(const std::vector<Tensor>& xs, bool training) const {
  require(layer_ != nullptr, "layer", "expected a layer, got none");
  Graph graph;
  Trace trace(graph, training);
  std::vector<Tensor> inputs;
  for (const Tensor& x : xs) {
    require(x.defined() && !x.is_symbolic(), layer_->name(), "expected values, got ",
            x.defined() ? "a tensor of a layer's call(): use Scope::call() there" : "an undefined tensor");
    inputs.push_back(graph.input(concat("input ", inputs.size()), x.dtype(), x.shape()));
  }
  const std::vector<Tensor> ys = trace.call(*this, inputs);
  for (size_t i = 0; i < ys.size(); ++i) graph.output(concat("output ", i), ys[i]);
  trace.add_updates();
  check_indices(index_ranges(graph), xs);
  return Program::compile(graph)(xs);
}

Tensor Layer::operator()(const std::vector<Tensor>& xs, bool training) const {
  const std::vector<Tensor> ys = outputs(xs, training);
  require(ys.size() == 1, layer_->name(), "has ", ys.size(), " outputs: call outputs()");
  return ys[0];
}

Tensor Layer::operator()(const Tensor& x, bool training) const {
  return (*this)(std::vector<Tensor>{x}, training);
}

}  // namespace plimsoll

// Trace: one walk through layers that adds their computation to a graph. Owned by whoever builds the graph;
// keeps what layers pass each other beside tensors: masks, losses, and weights with new values.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/graph.h"
#include "plimsoll/layer.h"

namespace plimsoll {

// A mask as bools: of numbers, those that are not 0.
Tensor as_mask(const Tensor& given);
// The mask that a call was given for its i-th input: the i-th "mask", or "mask[i]" where others have none.
// Undefined: none was given.
Tensor given_mask(const Arguments& arguments, size_t i);

class Trace {
 public:
  Trace(Graph& graph, bool training) : graph_(graph), training_(training) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  // The layer on these values. Weights it makes are dropped again if it throws.
  std::vector<Tensor> call(const Layer& layer, std::span<const Tensor> xs, const Arguments& arguments = {});

  // The variable as a value of the graph: what it was before the step, or what update() gave it.
  Tensor value(const VariablePtr& variable);
  Tensor initial_value(const VariablePtr& variable);
  void update(const VariablePtr& variable, const Tensor& next);
  // Adds the updates to the graph; once, at the end.
  void add_updates();

  Graph& graph() const { return graph_; }
  bool training() const { return training_; }
  const std::vector<Tensor>& losses() const { return losses_; }
  void add_loss(const Tensor& scalar) { losses_.push_back(scalar); }
  Tensor mask(const Tensor& x) const;
  void set_mask(const Tensor& x, const Tensor& mask);

 private:
  struct Held {
    VariablePtr variable;
    Tensor before, now;
  };
  Held& held(const VariablePtr& variable);
  std::vector<Tensor> call_built(LayerBase& layer, std::span<const Tensor> xs, const Arguments& arguments);
  std::vector<Tensor> put_masks(const std::vector<Tensor>& inputs, const Arguments& arguments);
  void replace_mask(const Tensor& x, const Tensor& mask);

  Graph& graph_;
  bool training_;
  int64_t calls_ = 0;
  std::map<const Variable*, size_t> index_;
  std::vector<Held> held_;
  std::vector<Tensor> losses_;
  std::map<ValueId, Tensor> masks_;
};

}  // namespace plimsoll

// CellLayer: one step of a recurrent layer, for RNN. And the walk over time that all recurrent layers share.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "plimsoll/layer.h"

namespace plimsoll {

// From an input of one step and the states to {output, states...}.
using CellStep = std::function<std::vector<Tensor>(const Tensor& x, std::span<const Tensor> states)>;

class CellLayer : public LayerBase {
 public:
  virtual std::vector<int64_t> state_sizes() const = 0;
  virtual int64_t output_size() const = 0;
  // Which state was the output of the step before.
  virtual size_t output_state() const { return 0; }
  // Makes weights and masks of dropout, which hold for all steps; `s` is the cell's. The step asks nothing
  // more of the scope.
  virtual CellStep prepare(Scope& s, const TensorType& x) = 0;
  // Of {x, states...}: one step, {output, states...}.
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
};

// Throws Error{invalid_argument} naming `place` if the layer is no cell.
CellLayer& cell_of(const Layer& layer, std::string_view place);

struct TimeWalk {
  Tensor mask = {};  // bool (batch, time); undefined: none
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  size_t output_state = 0;
};
// Over x (batch, time, ...): {outputs (batch, time, ...) beside their inputs, last states...}.
std::vector<Tensor> walk_over_time(const Tensor& x, std::vector<Tensor> states, const CellStep& step,
                                   const TimeWalk& walk);

struct SequenceOptions {
  bool return_sequences = false, return_state = false;
};
// What a recurrent layer returns of walk_over_time()'s results.
std::vector<Tensor> recurrent_results(Scope& s, const std::vector<Tensor>& found, const TimeWalk& walk,
                                      const SequenceOptions& options);

// The states a layer begins with: given ones (further inputs, or by name), the kept ones of a stateful layer,
// or zeros. Throws naming the layer if they do not fit.
std::vector<Tensor> initial_states(Scope& s, std::span<const Tensor> xs, const std::vector<Shape>& shapes,
                                   bool stateful);
// Keeps the states of a stateful layer: found[1], found[2], ...
void keep_states(Scope& s, const std::vector<Tensor>& found);
// The name of the variable in which it does.
std::string state_name(size_t i);

// Of an LSTM's bias: `rest`, and ones for the forget gate, which Keras starts open.
Initializer forget_bias(Initializer rest);

}  // namespace plimsoll

// RecurrentLayer: what SimpleRNN, LSTM and GRU share: masks, states, dropout, the walk over time.
#pragma once

#include "plimsoll/layers/recurrent.h"

namespace plimsoll {

class RecurrentLayer : public LayerBase {
 public:
  RecurrentLayer(int64_t units, RecurrentOptions options);
  void fields(Fields& f) override;
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  // A layer of the same class and options with no weights.
  virtual std::shared_ptr<RecurrentLayer> copy() const = 0;
  virtual int states() const = 0;

  int64_t units;
  RecurrentOptions o;

 protected:
  struct Weights {
    Tensor kernel, recurrent, bias;  // bias undefined: none
  };
  // Masks that dropout multiplies inputs and state with, for all steps alike: one, or one per gate; empty:
  // none.
  struct Drops {
    std::vector<Tensor> input, state;
  };

  virtual int gates() const = 0;
  virtual bool has_two_biases() const { return false; }
  virtual Initializer initial_bias() const { return o.bias_initializer; }
  // Fields in the middle of Keras's list that only some classes have.
  virtual void activation_fields(Fields& f) = 0;
  virtual void bias_fields(Fields&) {}
  virtual void last_fields(Fields&) {}
  // The engine's own op, where it knows these options: {outputs beside their inputs, states...}; empty if it
  // does not.
  virtual std::vector<Tensor> fused(const Tensor& x, const std::vector<Tensor>& states,
                                    const Weights& w) const = 0;
  // One step: `x` is the input times kernel plus bias (batch, gates * units). Returns the new states; the
  // first is the output.
  virtual std::vector<Tensor> step(const Tensor& x, std::span<const Tensor> states, const Weights& w,
                                   const std::vector<Tensor>& state_drops) const = 0;
  // state @ recurrent[:, first gate : last gate], with a drop per gate if there are several.
  Tensor recur(const Tensor& state, const Tensor& recurrent, const std::vector<Tensor>& drops, int first,
               int last) const;
  Tensor gate(const Tensor& z, int which) const;  // (batch, units) of (batch, gates * units)

 private:
  Weights make_weights(Scope& s, int64_t features);
  std::vector<Tensor> initial_states(Scope& s, std::span<const Tensor> xs);
  Drops make_drops(Scope& s, const Tensor& x);
  Tensor project(const Tensor& x, const Weights& w, const Drops& drops) const;
  std::vector<Tensor> walk(const Tensor& x, const Tensor& mask, std::vector<Tensor> states, const Weights& w,
                           const Drops& drops) const;
};

}  // namespace plimsoll

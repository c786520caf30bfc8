// RecurrentLayer: what SimpleRNN, LSTM and GRU share, and RecurrentCell: their cells.
#pragma once

#include "layers/base/cell.h"
#include "plimsoll/layers/recurrent.h"

namespace plimsoll {

class RecurrentLayer : public LayerBase {
 public:
  RecurrentLayer(int64_t units, RecurrentOptions options);
  void fields(Fields& f) override;
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  virtual int states() const = 0;
  // The arguments of the cell alone, without those about sequences; what Keras calls SimpleRNN leaves its
  // seed out.
  void cell_fields(Fields& f);
  // One step of it, with the weights of a cell, which `s` is of.
  CellStep cell_step(Scope& s, const TensorType& x);

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
  void check() const;
  // Keras keeps the weights of a layer in the object "cell/".
  Weights make_weights(Scope& s, int64_t features, std::string_view prefix);
  Drops make_drops(Scope& s, DType dtype, int64_t batch, int64_t features, std::string_view prefix);
  Tensor project(const Tensor& x, const Weights& w, const Drops& drops) const;
};

// The cell of such a layer, which does its work.
template <class Core>
class RecurrentCell final : public CellLayer {
 public:
  explicit RecurrentCell(int64_t units = 1, RecurrentOptions options = {})
      : core_(units, std::move(options)) {}
  std::string_view class_name() const override { return Core::kCell; }
  void fields(Fields& f) override {
    core_.cell_fields(f);
    if (Core::kCell == "SimpleRNNCell") f("seed", core_.o.seed);
  }
  std::vector<int64_t> state_sizes() const override {
    return std::vector<int64_t>(static_cast<size_t>(core_.states()), core_.units);
  }
  int64_t output_size() const override { return core_.units; }
  CellStep prepare(Scope& s, const TensorType& x) override {
    core_.set_name(name());
    return core_.cell_step(s, x);
  }

 private:
  Core core_;
};

}  // namespace plimsoll

// Networks: layers made of layers. Functional runs a graph of calls, SequentialLayer a chain.
#pragma once

#include <map>
#include <set>
#include <string>

#include "plimsoll/layer.h"

namespace plimsoll {

// As Python writes it: "(None, 28, 28, 1)".
std::string text_of(const SymbolShape& shape);

// What both have in common, for models and files.
class Network : public LayerBase {
 public:
  // Each layer once, in Keras's order; input layers too.
  virtual const std::vector<Layer>& layers() const = 0;
  // Empty for a chain whose input is not known yet.
  virtual const std::vector<Symbol>& inputs() const = 0;
  virtual const std::vector<Symbol>& outputs() const = 0;
  // In files a layer inside is named by its place: Keras's "layers/dense_1".
  void visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const override;
  // One name per output: its key, or its layer's name with a number where that is not enough.
  std::vector<std::string> output_names() const;
  // Of a model whose outputs are a dict in Python, in the order of outputs(); else none.
  virtual const std::vector<std::string>& output_keys() const;

 protected:
  // What was given, as the inputs want it: cast to their dtypes, with a last axis of one added or taken away
  // as Keras does. Throws Error{invalid_argument} naming the input if it does not fit.
  std::vector<Tensor> fitted(std::span<const Tensor> xs) const;
};

class Functional final : public Network {
 public:
  Functional() = default;  // of nothing, until set()
  Functional(std::vector<Symbol> inputs, std::vector<Symbol> outputs) {
    set(std::move(inputs), std::move(outputs));
  }
  // Throws Error{invalid_argument} if an output depends on an input, or on another result of a call whose
  // result is an input, that is not listed.
  void set(std::vector<Symbol> inputs, std::vector<Symbol> outputs);
  // Requires: none, or one for each output.
  void set_output_keys(std::vector<std::string> keys) { output_keys_ = std::move(keys); }
  const std::vector<std::string>& output_keys() const override { return output_keys_; }
  std::string_view class_name() const override { return "Functional"; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;

  const std::vector<Layer>& layers() const override { return layers_; }
  const std::vector<Symbol>& inputs() const override { return inputs_; }
  const std::vector<Symbol>& outputs() const override { return outputs_; }
  // In an order in which they can run.
  const std::vector<std::shared_ptr<const LayerCall>>& calls() const { return calls_; }

 private:
  bool is_given(const LayerCall& call) const;  // one of its results is an input
  // Throws Error{invalid_argument} if `x` is another result of a call that is given.
  void check_known(const Symbol& x) const;

  std::vector<Symbol> inputs_, outputs_;
  std::vector<std::string> output_keys_;
  std::vector<std::shared_ptr<const LayerCall>> calls_;
  std::vector<Layer> layers_;
};

class SequentialLayer final : public Network {
 public:
  std::string_view class_name() const override { return "Sequential"; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  void add(const Layer& layer);
  void pop();

  const std::vector<Layer>& layers() const override { return layers_; }
  const std::vector<Symbol>& inputs() const override { return inputs_; }
  const std::vector<Symbol>& outputs() const override { return outputs_; }

 private:
  std::vector<Layer> layers_;
  std::set<std::string> names_;  // of the layers
  std::vector<Symbol> inputs_, outputs_;
};

}  // namespace plimsoll

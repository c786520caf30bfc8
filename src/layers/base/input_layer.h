// InputLayer: stands for what a model is given.
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

class InputLayer final : public LayerBase {
 public:
  std::string_view class_name() const override { return "InputLayer"; }
  std::vector<Tensor> call_many(Scope& s, std::span<const Tensor> xs) override;
  bool passes_mask() const override { return true; }

  SymbolShape batch_shape;
  DType dtype = DType::f32;
};

// The symbol that an input layer stands for.
Symbol symbol_of(const Layer& input);

}  // namespace plimsoll

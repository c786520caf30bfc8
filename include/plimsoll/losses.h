// Losses:  model.compile({.loss = "mse"})  or  .loss = BinaryCrossentropy({.from_logits = true})
#pragma once

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

class LossBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::loss;
  // The loss of each sample, before weights and reduction: the last axis is summed up, the others stay.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) = 0;

  std::string reduction = "sum_over_batch_size";  // "sum", "mean", "none", "mean_with_sample_weight"
};
using Loss = Ref<LossBase>;

struct SparseCategoricalCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  std::string reduction = "sum_over_batch_size";
};
Loss SparseCategoricalCrossentropy(const SparseCategoricalCrossentropyOptions& options = {});
Loss MeanSquaredError(const std::string& reduction = "sum_over_batch_size");

}  // namespace plimsoll

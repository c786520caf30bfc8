// Keras's loss functions, each as it stands in keras/src/losses/losses.py: the loss per sample, over the last
// axis. Losses and metrics are both made of them. The targets take the dtype of the predictions.
#pragma once

#include <optional>
#include <utility>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

inline constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

// Keras's squeeze_or_expand_to_same_rank: a last axis of size 1 is dropped or put in where the ranks differ
// by one.
std::pair<Tensor, Tensor> to_same_rank(const Tensor& a, const Tensor& b, bool expand_rank_1 = true);
// a / b, and 0 where b is 0.
Tensor divide_no_nan(const Tensor& a, const Tensor& b);

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta);
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);
// The similarity; the loss is its negative.
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int64_t axis);

struct CrossentropyArgs {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
};
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args);
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args);
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, bool from_logits,
                                       const std::optional<int64_t>& ignore_class, int64_t axis);
// Where ignore_class does not stand; undefined without one.
Tensor not_ignored(const Tensor& y_true, const Tensor& y_pred, const std::optional<int64_t>& ignore_class);
struct FocalArgs {
  double alpha = 0.25, gamma = 2;
  bool balance = false;
};
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args,
                                 const FocalArgs& focal);
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CrossentropyArgs& args, const FocalArgs& focal);
// axes empty: all.
Tensor dice(const Tensor& y_true, const Tensor& y_pred, const Ints& axes);
Tensor tversky(const Tensor& y_true, const Tensor& y_pred, double alpha, double beta, const Ints& axes);

// Keras's choice between the binary, the sparse and the categorical form of "crossentropy" and "accuracy".
enum class Targets { binary, sparse, categorical };
Targets kind_of_targets(const Tensor& y_true, const Tensor& y_pred);

}  // namespace plimsoll

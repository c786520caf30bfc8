#include "train/loss_functions.h"

#include <algorithm>
#include <numbers>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

struct Pair {
  Tensor y, p;  // targets and predictions
};

bool broadcasts(const Shape& a, const Shape& b) {
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const int64_t x = a[a.rank() - i], y = b[b.rank() - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

Pair matched(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = to_same_rank(cast(y_true, y_pred.dtype()), y_pred);
  // Targets with one number where the predictions have several are mostly the numbers of classes.
  const bool may_be_classes =
      y_pred.rank() > 0 && y_pred.dim(-1) > 1 && (y_true.rank() < y_pred.rank() || y_true.dim(-1) == 1);
  require(broadcasts(y.shape(), p.shape()), "targets", "expected the shape of the predictions, ",
          y_pred.shape(), ", got ", y_true.shape(),
          may_be_classes ? "; for targets that are the numbers of classes, the loss is "
                           "sparse_categorical_crossentropy, the metric sparse_categorical_accuracy"
                         : "");
  return {y, p};
}

Tensor at_least(const Tensor& x, double low) { return maximum(x, scalar_like(x, low)); }

// Labels 0 and 1 count as -1 and 1 if there are no others.
Tensor hinge_labels(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor y = cast(y_true, y_pred.dtype());
  const Tensor binary = all(bitwise_or(equal(y, scalar_like(y, 0)), equal(y, scalar_like(y, 1))));
  return where(binary, 2.0 * y - 1.0, y);
}

Tensor unit_length(const Tensor& x, int64_t axis) {
  const Tensor inverse = rsqrt(sum(square(x), {axis}, true));
  return x * minimum(inverse, scalar_like(x, 1 / kEpsilon));
}

}  // namespace

std::pair<Tensor, Tensor> to_same_rank(const Tensor& a, const Tensor& b, bool expand_rank_1) {
  if (a.rank() == b.rank() + 1 && a.dim(-1) == 1) {
    if (b.rank() == 1 && expand_rank_1) return {a, expand_dims(b, -1)};
    return {squeeze(a, -1), b};
  }
  if (b.rank() == a.rank() + 1 && b.dim(-1) == 1) {
    if (a.rank() == 1 && expand_rank_1) return {expand_dims(a, -1), b};
    return {a, squeeze(b, -1)};
  }
  return {a, b};
}

Tensor divide_no_nan(const Tensor& a, const Tensor& b) {
  const Tensor zero = equal(b, scalar_like(b, 0));
  return where(zero, scalar_like(a, 0), a / where(zero, scalar_like(b, 1), b));
}

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = matched(y_true, y_pred);
  return mean(square(y - p), {-1});
}

Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = matched(y_true, y_pred);
  return mean(absolute(y - p), {-1});
}

Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = matched(y_true, y_pred);
  return 100.0 * mean(absolute((y - p) / at_least(absolute(y), kEpsilon)), {-1});
}

Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = matched(y_true, y_pred);
  return mean(square(log(at_least(p, kEpsilon) + 1.0) - log(at_least(y, kEpsilon) + 1.0)), {-1});
}

Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = matched(y_true, y_pred);
  const Tensor x = p - y;
  return mean(x + softplus(x * -2.0) - std::numbers::ln2, {-1});
}

Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta) {
  const auto [y, p] = matched(y_true, y_pred);
  const Tensor error = p - y;
  const Tensor size = absolute(error);
  const Tensor inside = less_equal(size, scalar_like(size, delta));
  return mean(where(inside, 0.5 * square(error), delta * size - 0.5 * delta * delta), {-1});
}

Tensor hinge(const Tensor& y_true, const Tensor& y_pred) {
  return mean(at_least(1.0 - hinge_labels(y_true, y_pred) * y_pred, 0), {-1});
}

Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  return mean(square(at_least(1.0 - hinge_labels(y_true, y_pred) * y_pred, 0)), {-1});
}

Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor y = cast(y_true, y_pred.dtype());
  const Tensor right = sum(y * y_pred, {-1});
  const Tensor wrong = max((1.0 - y) * y_pred, {-1});
  return at_least(wrong - right + 1.0, 0);
}

Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor y = clip(cast(y_true, y_pred.dtype()), kEpsilon, 1);
  return sum(y * log(y / clip(y_pred, kEpsilon, 1)), {-1});
}

Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  return mean(y_pred - cast(y_true, y_pred.dtype()) * log(y_pred + kEpsilon), {-1});
}

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int64_t axis) {
  const auto [y, p] = matched(y_true, y_pred);
  return sum(unit_length(y, axis) * unit_length(p, axis), {axis});
}

Tensor dice(const Tensor& y_true, const Tensor& y_pred, const Ints& axes) {
  const Tensor y = cast(y_true, y_pred.dtype());
  const Tensor both = sum(y * y_pred, axes);
  return 1.0 - 2.0 * both / (sum(y, axes) + sum(y_pred, axes) + kEpsilon);
}

Tensor tversky(const Tensor& y_true, const Tensor& y_pred, double alpha, double beta, const Ints& axes) {
  const Tensor y = cast(y_true, y_pred.dtype());
  const Tensor both = sum(y * y_pred, axes);
  const Tensor missed = sum((1.0 - y_pred) * y, axes);
  const Tensor extra = sum(y_pred * (1.0 - y), axes);
  return 1.0 - both / (both + missed * alpha + extra * beta + kEpsilon);
}

Targets kind_of_targets(const Tensor& y_true, const Tensor& y_pred) {
  if (y_pred.rank() > 0 && y_pred.dim(-1) == 1) return Targets::binary;
  const bool one_column = y_true.rank() > 0 && y_true.dim(-1) == 1 && y_pred.dim(-1) > 1;
  return y_true.rank() < y_pred.rank() || one_column ? Targets::sparse : Targets::categorical;
}

}  // namespace plimsoll

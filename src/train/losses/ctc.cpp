// CTC: how unlikely the labels are, over all ways to spread them, blanks between, along the steps of the
// predictions (Graves et al. 2006). The forward recursion in logarithms, as a scan; its gradient follows by
// differentiation.
#include <array>

#include "plimsoll/error.h"
#include "plimsoll/losses.h"
#include "plimsoll/ops/control.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/losses/function_loss.h"

namespace plimsoll {
namespace {

// The logarithm of what cannot be: far below any other, and finite, so that differences of two are no NaN.
// Keras's.
constexpr double kNever = -1e5;

Tensor filled(DType dtype, const Shape& shape, double value) {
  return broadcast_to(Tensor::full(dtype, {}, value), shape);
}

// (batch, n) -> (batch, 2 n + 1): zeros, the blank among them, before, between and behind.
Tensor with_blanks(const Tensor& x) {
  const int64_t batch = x.dim(0), n = x.dim(1);
  const Tensor apart = reshape(x, {batch, n, 1});
  const Tensor pairs = pad(apart, {0, 0, 1}, {0, 0, 0});
  return pad(reshape(pairs, {batch, 2 * n}), {0, 0}, {0, 1});
}

// Moved `places` states up; nothing comes from below the first.
Tensor moved_up(const Tensor& x, int64_t places) {
  const int64_t kept = x.dim(1) - places;
  if (kept <= 0) return filled(x.dtype(), x.shape(), kNever);
  return pad(slice(x, {0, 0}, {x.dim(0), kept}), {0, places}, {0, 0}, {}, kNever);
}

Tensor log_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor most = maximum(maximum(a, b), c);
  return most + log(exp(a - most) + exp(b - most) + exp(c - most));
}

Tensor ctc(const Tensor& y_true, const Tensor& y_pred) {
  require(y_true.rank() == 2 && y_pred.rank() == 3, "CTC",
          "expected labels (batch, length) and logits (batch, steps, classes), got ", y_true.shape(), " and ",
          y_pred.shape());
  const int64_t batch = y_pred.dim(0), steps = y_pred.dim(1), classes = y_pred.dim(2);
  require(steps > 0 && y_true.dim(1) > 0, "CTC", "expected at least one step and one label, got ",
          y_pred.shape(), " and ", y_true.shape());
  const Tensor labels = cast(y_true, DType::i32);
  const Tensor states = with_blanks(labels);
  const int64_t count = states.dim(1);

  // (steps, batch, states): the logarithm of the probability of each state's class at each step.
  const Tensor chosen = transpose(one_hot(states, classes, y_pred.dtype()), {0, 2, 1});
  const Tensor emitted = transpose(matmul(log_softmax(y_pred), chosen), {1, 0, 2});

  // A blank may be left out between two labels that differ; a label never.
  Tensor skips = filled(DType::boolean, {batch, count}, 0);
  if (labels.dim(1) > 1) {
    const int64_t n = labels.dim(1);
    const Tensor differs =
        not_equal(slice(labels, {0, 1}, {batch, n}), slice(labels, {0, 0}, {batch, n - 1}));
    skips = cast(with_blanks(pad(cast(differs, DType::i32), {0, 1}, {0, 0})), DType::boolean);
  }
  const Tensor forbidden = where(skips, scalar_like(emitted, 0), scalar_like(emitted, kNever));

  const Tensor place = iota(DType::i32, {batch, count}, 1);
  const Tensor before =
      where(equal(place, scalar_like(place, 0)), scalar_like(emitted, 0), scalar_like(emitted, kNever));
  const auto advance = [&](std::span<const Tensor> in) {
    const Tensor& alpha = in[0];
    return std::vector<Tensor>{log_sum(alpha, moved_up(alpha, 1), moved_up(alpha, 2) + forbidden) + in[1]};
  };
  const Tensor last = scan(std::array{before}, std::array{emitted}, steps, advance)[0];

  // It ends in the last label or in the blank behind it.
  const Tensor length = sum(cast(not_equal(labels, scalar_like(labels, 0)), DType::i32), {1}, true);
  const Tensor end = length + length;
  const Tensor ends = bitwise_or(equal(place, end), equal(place, end - scalar_like(end, 1)));
  const Tensor at_end = where(ends, last, scalar_like(last, 2 * kNever));
  const Tensor most = max(at_end, {1}, true);
  return -squeeze(most + log(sum(exp(at_end - most), {1}, true)), 1);
}

struct CtcRow {
  static constexpr std::string_view kClass = "CTC", kName = "ctc";
  static Tensor call(const Tensor& y, const Tensor& p) { return ctc(y, p); }
};

}  // namespace

Loss CTC(const LossOptions& o) { return make_function_loss<CtcRow>(o); }

std::span<const ClassDef> classes_ctc() {
  static constexpr ClassDef rows[] = {function_loss_row<CtcRow>()};
  return rows;
}

}  // namespace plimsoll

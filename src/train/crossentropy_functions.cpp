// The cross-entropies. Where the prediction is a softmax or sigmoid of this graph they are computed from its
// input, which is stable, fused, and what Keras does on TensorFlow; else from probabilities clipped to [1e-7,
// 1 - 1e-7].
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"

namespace plimsoll {
namespace {

// The input of the op that made `y`, if it is called so (a softmax: over `axis`); else undefined.
Tensor input_of(const Tensor& y, std::string_view op, int64_t axis) {
  if (!y.is_symbolic()) return {};
  Graph& graph = y.graph();
  const NodeId producer = graph.value(y.id()).producer;
  if (producer == kNone || !graph.is(producer, op)) return {};
  const Node& node = graph.node(producer);
  if (op == "softmax" &&
      normalize_axis(node.attrs.integer("axis"), y.rank(), op) != normalize_axis(axis, y.rank(), op)) {
    return {};
  }
  return Tensor(graph, node.inputs[0]);
}

Tensor probabilities(const Tensor& p) { return clip(p, kEpsilon, 1 - kEpsilon); }

Tensor smoothed(const Tensor& y_true, const Tensor& y_pred, double smoothing, double share) {
  const Tensor y = cast(y_true, y_pred.dtype());
  return smoothing == 0 ? y : y * (1 - smoothing) + smoothing * share;
}

void require_same_shape(std::string_view place, const Tensor& y, const Tensor& p) {
  const bool may_be_classes = p.rank() > 0 && p.dim(-1) > 1 && (y.rank() < p.rank() || y.dim(-1) == 1);
  require(y.shape() == p.shape(), place, "expected targets of the shape of the predictions ", p.shape(),
          ", got ", y.shape(),
          may_be_classes ? "; for targets that are the numbers of classes, the loss is "
                           "sparse_categorical_crossentropy"
                         : "");
}

Tensor binary_from_probabilities(const Tensor& y, const Tensor& y_pred) {
  const Tensor p = probabilities(y_pred);
  return -(y * log(p) + (1.0 - y) * log(1.0 - p));
}

Tensor labels_of(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor labels = cast(y_true, DType::i64);
  return labels.rank() == y_pred.rank() && labels.dim(-1) == 1 ? squeeze(labels, -1) : labels;
}

}  // namespace

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args) {
  const auto [targets, p] = to_same_rank(y_true, y_pred);
  const Tensor y = smoothed(targets, p, args.label_smoothing, 0.5);
  require_same_shape("binary_crossentropy", y, p);
  const Tensor logits = args.from_logits ? p : input_of(p, "sigmoid", -1);
  return mean(logits.defined() ? sigmoid_cross_entropy(logits, y) : binary_from_probabilities(y, p),
              {args.axis});
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args) {
  const auto [targets, p] = to_same_rank(y_true, y_pred);
  const Tensor y =
      smoothed(targets, p, args.label_smoothing, 1.0 / static_cast<double>(std::max<int64_t>(p.dim(-1), 1)));
  require_same_shape("categorical_crossentropy", y, p);
  const Tensor logits = args.from_logits ? p : input_of(p, "softmax", args.axis);
  const int axis = normalize_axis(args.axis, p.rank(), "categorical_crossentropy");
  if (!logits.defined()) return -sum(y * log(probabilities(p / sum(p, {axis}, true))), {axis});
  if (axis == p.rank() - 1) return softmax_cross_entropy(logits, y);
  return -sum(y * log_softmax(logits, axis), {axis});
}

Tensor not_ignored(const Tensor& y_true, const Tensor& y_pred, const std::optional<int64_t>& ignore_class) {
  if (!ignore_class) return {};
  const Tensor labels = labels_of(y_true, y_pred);
  return not_equal(labels, scalar_like(labels, static_cast<double>(*ignore_class)));
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred, bool from_logits,
                                       const std::optional<int64_t>& ignore_class, int64_t axis) {
  constexpr std::string_view kPlace = "sparse_categorical_crossentropy";
  require(normalize_axis(axis, y_pred.rank(), kPlace) == y_pred.rank() - 1, kPlace,
          "expected the classes on the last axis, got axis ", axis);
  Tensor labels = labels_of(y_true, y_pred);
  require(labels.shape() == y_pred.shape().without(y_pred.rank() - 1), kPlace, "expected labels of shape ",
          y_pred.shape().without(y_pred.rank() - 1), ", got ", y_true.shape());
  const Tensor valid = not_ignored(y_true, y_pred, ignore_class);
  if (valid.defined()) labels = where(valid, labels, scalar_like(labels, 0));
  Tensor logits = from_logits ? y_pred : input_of(y_pred, "softmax", -1);
  if (!logits.defined()) logits = log(probabilities(y_pred));
  const Tensor loss = sparse_softmax_cross_entropy(logits, labels);
  return valid.defined() ? where(valid, loss, scalar_like(loss, 0)) : loss;
}

Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred, const CrossentropyArgs& args,
                                 const FocalArgs& focal) {
  const auto [targets, scores] = to_same_rank(y_true, y_pred);
  const Tensor y = smoothed(targets, scores, args.label_smoothing, 0.5);
  require_same_shape("binary_focal_crossentropy", y, scores);
  const Tensor p = args.from_logits ? sigmoid(scores) : scores;
  const Tensor right = y * p + (1.0 - y) * (1.0 - p);
  Tensor loss = power(1.0 - right, scalar_like(p, focal.gamma)) * binary_from_probabilities(y, p);
  if (focal.balance) loss = (y * focal.alpha + (1.0 - y) * (1 - focal.alpha)) * loss;
  return mean(loss, {args.axis});
}

Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CrossentropyArgs& args, const FocalArgs& focal) {
  const auto [targets, scores] = to_same_rank(y_true, y_pred);
  const Tensor y = smoothed(targets, scores, args.label_smoothing,
                            1.0 / static_cast<double>(std::max<int64_t>(scores.dim(-1), 1)));
  require_same_shape("categorical_focal_crossentropy", y, scores);
  const Tensor raw = args.from_logits ? softmax(scores, static_cast<int>(args.axis)) : scores;
  const Tensor p = probabilities(raw / sum(raw, {args.axis}, true));
  return sum(power(1.0 - p, scalar_like(p, focal.gamma)) * focal.alpha * (-(y * log(p))), {args.axis});
}

}  // namespace plimsoll

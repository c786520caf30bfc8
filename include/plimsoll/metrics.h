// Metrics: numbers kept over the batches of an epoch:  model.compile({.metrics = {"accuracy", AUC()}})
//
// A metric given by a string is called by that string in History, as in Keras; one made here by its `name`.
// Those that share a name with a loss are in the namespace `metrics` only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plimsoll/config.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Where a metric keeps its sums while a step is traced.
class MetricScope {
 public:
  virtual ~MetricScope() = default;
  // float32; zero at the start of an epoch. Asked again after set(), it is the new value.
  virtual Tensor state(std::string_view name, const Shape& shape) = 0;
  virtual void set(std::string_view name, const Tensor& next) = 0;
  Tensor mask;  // the mask Keras carries beside the predictions; undefined: none
};

class MetricBase : public Configurable {
 public:
  static constexpr Family kFamily = Family::metric;
  void fields(Fields& f) override;  // name and dtype; a metric with arguments adds its own

  // Adds a batch to the states. `weight` (optional: undefined) is per sample.
  virtual void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) = 0;
  // From the concrete states, in the order they were first asked for.
  virtual double result(std::span<const Tensor> states) = 0;

  std::string name;
};
using Metric = Ref<MetricBase>;

struct MetricOptions {
  std::string name = {};
};
struct ThresholdOptions {
  double threshold = 0.5;
  std::string name = {};
};
struct TopKOptions {
  int64_t k = 5;
  std::string name = {};
};
struct ConfusionOptions {
  std::optional<double> thresholds = {};  // empty: 0.5
  std::string name = {};
};
struct PrecisionOptions {
  std::optional<double> thresholds = {};
  std::optional<int64_t> top_k = {};
  std::optional<int64_t> class_id = {};
  std::string name = {};
};
struct AucOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                       // or "PR", "PRGAIN"
  std::string summation_method = "interpolation";  // or "minoring", "majoring"
  std::vector<double> thresholds = {};             // empty: num_thresholds, evenly spread
  bool multi_label = false;
  std::optional<int64_t> num_labels = {};
  std::vector<double> label_weights = {};
  bool from_logits = false;
  std::string name = {};
};
struct AtOptions {
  int64_t num_thresholds = 200;
  std::optional<int64_t> class_id = {};
  std::string name = {};
};
struct FBetaScoreOptions {
  std::optional<std::string> average = {};  // "micro", "macro", "weighted"; empty: only for one class
  double beta = 1.0;
  std::optional<double> threshold = {};  // empty: the largest of each row
  std::string name = {};
};
struct F1ScoreOptions {
  std::optional<std::string> average = {};
  std::optional<double> threshold = {};
  std::string name = {};
};
struct R2ScoreOptions {
  std::string class_aggregation = "uniform_average";  // or "variance_weighted_average"
  int64_t num_regressors = 0;
  std::string name = {};
};
struct IoUOptions {
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int64_t axis = -1;
  std::string name = {};
};
struct BinaryIoUOptions {
  Ints target_class_ids = {0, 1};
  double threshold = 0.5;
  std::string name = {};
};
struct OneHotIoUOptions {
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_pred = false;
  int64_t axis = -1;
  std::string name = {};
};
struct MetricCosineOptions {
  int64_t axis = -1;
  std::string name = {};
};
struct MetricCrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
  int64_t axis = -1;
  std::string name = {};
};
struct MetricSparseCrossentropyOptions {
  bool from_logits = false;
  std::optional<int64_t> ignore_class = {};
  int64_t axis = -1;
  std::string name = {};
};

namespace metrics {

Metric Accuracy(const MetricOptions& options = {});
Metric BinaryAccuracy(const ThresholdOptions& options = {});
Metric CategoricalAccuracy(const MetricOptions& options = {});
Metric SparseCategoricalAccuracy(const MetricOptions& options = {});
Metric TopKCategoricalAccuracy(const TopKOptions& options = {});
Metric SparseTopKCategoricalAccuracy(const TopKOptions& options = {});

Metric TruePositives(const ConfusionOptions& options = {});
Metric TrueNegatives(const ConfusionOptions& options = {});
Metric FalsePositives(const ConfusionOptions& options = {});
Metric FalseNegatives(const ConfusionOptions& options = {});
Metric Precision(const PrecisionOptions& options = {});
Metric Recall(const PrecisionOptions& options = {});
Metric AUC(const AucOptions& options = {});
Metric SensitivityAtSpecificity(double specificity, const AtOptions& options = {});
Metric SpecificityAtSensitivity(double sensitivity, const AtOptions& options = {});
Metric PrecisionAtRecall(double recall, const AtOptions& options = {});
Metric RecallAtPrecision(double precision, const AtOptions& options = {});
Metric F1Score(const F1ScoreOptions& options = {});
Metric FBetaScore(const FBetaScoreOptions& options = {});
// Of each class: what targets and predictions share, by what either has; the mean over the classes asked for.
Metric IoU(int64_t num_classes, Ints target_class_ids, const IoUOptions& options = {});
Metric MeanIoU(int64_t num_classes, const IoUOptions& options = {});
Metric BinaryIoU(const BinaryIoUOptions& options = {});
Metric OneHotIoU(int64_t num_classes, Ints target_class_ids, const OneHotIoUOptions& options = {});
Metric OneHotMeanIoU(int64_t num_classes, const OneHotIoUOptions& options = {});
// Of the predictions; targets are not looked at.
Metric Mean(const MetricOptions& options = {});
Metric Sum(const MetricOptions& options = {});
Metric PearsonCorrelation(const MetricCosineOptions& options = {});
Metric ConcordanceCorrelation(const MetricCosineOptions& options = {});
// A metric of your own: the mean over samples of what the function gives for each.
using MetricFunction = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
Metric MeanMetricWrapper(MetricFunction function, const MetricOptions& options = {});

Metric MeanSquaredError(const MetricOptions& options = {});
Metric MeanAbsoluteError(const MetricOptions& options = {});
Metric MeanAbsolutePercentageError(const MetricOptions& options = {});
Metric MeanSquaredLogarithmicError(const MetricOptions& options = {});
Metric RootMeanSquaredError(const MetricOptions& options = {});
Metric LogCoshError(const MetricOptions& options = {});
Metric CosineSimilarity(const MetricCosineOptions& options = {});
Metric R2Score(const R2ScoreOptions& options = {});
Metric Hinge(const MetricOptions& options = {});
Metric SquaredHinge(const MetricOptions& options = {});
Metric CategoricalHinge(const MetricOptions& options = {});
Metric KLDivergence(const MetricOptions& options = {});
Metric Poisson(const MetricOptions& options = {});
Metric BinaryCrossentropy(const MetricCrossentropyOptions& options = {});
Metric CategoricalCrossentropy(const MetricCrossentropyOptions& options = {});
Metric SparseCategoricalCrossentropy(const MetricSparseCrossentropyOptions& options = {});

}  // namespace metrics

using metrics::AUC;
using metrics::BinaryAccuracy;
using metrics::BinaryIoU;
using metrics::CategoricalAccuracy;
using metrics::ConcordanceCorrelation;
using metrics::F1Score;
using metrics::FalseNegatives;
using metrics::FalsePositives;
using metrics::FBetaScore;
using metrics::IoU;
using metrics::MeanIoU;
using metrics::MeanMetricWrapper;
using metrics::OneHotIoU;
using metrics::OneHotMeanIoU;
using metrics::PearsonCorrelation;
using metrics::Precision;
using metrics::PrecisionAtRecall;
using metrics::R2Score;
using metrics::Recall;
using metrics::RecallAtPrecision;
using metrics::RootMeanSquaredError;
using metrics::SensitivityAtSpecificity;
using metrics::SparseCategoricalAccuracy;
using metrics::SparseTopKCategoricalAccuracy;
using metrics::SpecificityAtSensitivity;
using metrics::TopKCategoricalAccuracy;
using metrics::TrueNegatives;
using metrics::TruePositives;

}  // namespace plimsoll
#pragma GCC visibility pop

// Losses and metrics against Keras.
#include "plimsoll/losses.h"

#include <gtest/gtest.h>

#include "layers/base/trace.h"
#include "plimsoll/metrics.h"
#include "plimsoll/ops/shape.h"
#include "plimsoll/program.h"
#include "train/metric_state.h"
#include "train/reduction.h"
#include "training/golden.h"

namespace plimsoll {
namespace {

using testing::golden;
using testing::golden_values;

// Sums of a dozen float32 terms, divided: some roundings.
constexpr double kTolerance = 1e-5;

void expect_near(const std::string& what, double got, double want) {
  EXPECT_NEAR(got, want, kTolerance * std::max(1.0, std::abs(want))) << what;
}

struct LossRow {
  std::string key, data;
  Loss loss;
};

std::vector<LossRow> loss_rows() {
  return {
      {"mse", "numbers", "mse"},
      {"mae", "numbers", MeanAbsoluteError()},
      {"mape", "numbers", "mape"},
      {"msle", "positive", "mean_squared_logarithmic_error"},
      {"log_cosh", "numbers", LogCosh()},
      {"huber", "numbers", Huber({.delta = 0.7})},
      {"hinge", "bit_logits", Hinge()},
      {"squared_hinge", "numbers", SquaredHinge()},
      {"categorical_hinge", "logits", CategoricalHinge()},
      {"kl", "shares", "kld"},
      {"poisson", "positive", Poisson()},
      {"cosine", "numbers", CosineSimilarity()},
      {"binary", "bits", BinaryCrossentropy()},
      {"binary_logits", "bit_logits", BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1})},
      {"categorical", "shares", CategoricalCrossentropy({.label_smoothing = 0.1})},
      {"categorical_logits", "logits", CategoricalCrossentropy({.from_logits = true})},
      {"sparse", "classes", SparseCategoricalCrossentropy()},
      {"sparse_logits", "class_logits", SparseCategoricalCrossentropy({.from_logits = true})},
      {"sparse_ignore", "class_logits",
       SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 2})},
      {"binary_focal", "bits", BinaryFocalCrossentropy({.apply_class_balancing = true})},
      {"categorical_focal", "shares", CategoricalFocalCrossentropy()},
      {"dice", "bits", Dice()},
      {"tversky", "bits", Tversky({.alpha = 0.3, .beta = 0.7})},
      {"circle", "class_directions", Circle({.gamma = 8.0, .margin = 0.3})},
      {"circle_diagonal", "class_directions", Circle({.gamma = 3.0, .remove_diagonal = false})},
      {"generalized", "class_numbers", CategoricalGeneralizedCrossEntropy({.q = 0.7})},
  };
}

TEST(Losses, NumbersOfClassesForARegressionSayWhichLossIsMeant) {
  const Tensor classes = Tensor::zeros(DType::i32, {32}), shares = Tensor::zeros(DType::f32, {32, 10});
  try {
    MeanSquaredError()->call(classes, shares);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("expected the shape of the predictions, (32, 10), got (32,)"), std::string::npos)
        << text;
    EXPECT_NE(text.find("sparse_categorical_crossentropy"), std::string::npos) << text;
  }
}

TEST(Losses, AreKeras) {
  const Tensor weight = golden("data.weight");
  size_t seen = 0;
  for (const LossRow& row : loss_rows()) {
    const Tensor y = golden("data." + row.data + ".y");
    const Tensor p = golden("data." + row.data + ".p");
    const std::vector<double> want = golden_values("loss." + row.key);
    const auto reduced = [&](const Tensor& w, std::string_view reduction) {
      return reduce_weighted(row.loss->call(y, p), w, row.loss->counted(y, p), reduction).item();
    };
    expect_near(row.key, reduced({}, "sum_over_batch_size"), want[0]);
    const std::string_view reductions[] = {"sum_over_batch_size", "sum", "mean_with_sample_weight"};
    for (size_t i = 1; i < want.size(); ++i) {
      expect_near(row.key + " weighted, " + std::string(reductions[i - 1]),
                  reduced(weight, reductions[i - 1]), want[i]);
    }
    ++seen;
  }
  EXPECT_EQ(seen, testing::golden_names("loss.").size());
}

struct MetricRow {
  std::string key, data;
  Metric metric;
};

std::vector<MetricRow> metric_rows() {
  return {
      {"binary_accuracy", "bits", BinaryAccuracy({.threshold = 0.4})},
      {"categorical_accuracy", "shares", "accuracy"},
      {"sparse_accuracy", "classes", "accuracy"},
      {"top_2", "shares", TopKCategoricalAccuracy({.k = 2})},
      {"sparse_top_2", "classes", SparseTopKCategoricalAccuracy({.k = 2})},
      {"auc", "bits", "AUC"},
      {"auc_pr", "bits", AUC({.curve = "PR"})},
      {"auc_labels", "bits",
       AUC({.num_thresholds = 50, .summation_method = "minoring", .multi_label = true})},
      {"auc_thresholds", "bits", AUC({.thresholds = {0.2, 0.35, 0.8}})},
      {"precision", "bits", Precision()},
      {"precision_top", "bits", Precision({.top_k = 2})},
      {"precision_class", "bits", Precision({.thresholds = 0.3, .class_id = 1})},
      {"recall", "bits", Recall()},
      {"recall_at_precision", "bits", RecallAtPrecision(0.6, {.num_thresholds = 50})},
      {"specificity_at", "bits", SpecificityAtSensitivity(0.6)},
      {"accuracy", "answer_classes", metrics::Accuracy()},
      {"true_positives", "bits", TruePositives()},
      {"true_negatives", "bits", TrueNegatives()},
      {"false_positives", "bits", FalsePositives()},
      {"false_negatives", "bits", FalseNegatives({.thresholds = 0.7})},
      {"sensitivity_at", "bits", SensitivityAtSpecificity(0.4)},
      {"precision_at_recall", "bits", PrecisionAtRecall(0.6)},
      {"f1_macro", "bits", F1Score({.average = "macro", .threshold = 0.5})},
      {"f1_micro", "shares", F1Score({.average = "micro"})},
      {"fbeta_weighted", "bits", FBetaScore({.average = "weighted", .beta = 2.0, .threshold = 0.5})},
      {"rmse", "numbers", RootMeanSquaredError()},
      {"mse", "numbers", "mse"},
      {"mae", "numbers", metrics::MeanAbsoluteError()},
      {"mape", "numbers", metrics::MeanAbsolutePercentageError()},
      {"msle", "positive", metrics::MeanSquaredLogarithmicError()},
      {"cosine", "numbers", metrics::CosineSimilarity()},
      {"log_cosh", "numbers", metrics::LogCoshError()},
      {"r2", "numbers", R2Score()},
      {"r2_variance", "numbers",
       R2Score({.class_aggregation = "variance_weighted_average", .num_regressors = 2})},
      {"kl", "shares", metrics::KLDivergence()},
      {"poisson", "positive", metrics::Poisson()},
      {"binary_crossentropy", "bits", metrics::BinaryCrossentropy()},
      {"categorical_crossentropy", "shares", metrics::CategoricalCrossentropy()},
      {"sparse_crossentropy", "classes", metrics::SparseCategoricalCrossentropy()},
      {"hinge", "bit_logits", metrics::Hinge()},
      {"squared_hinge", "bit_logits", metrics::SquaredHinge()},
      {"categorical_hinge", "logits", metrics::CategoricalHinge()},
      {"iou", "classes", IoU(5, {0, 2}, {.sparse_y_pred = false})},
      {"mean_iou", "classes", MeanIoU(5, {.ignore_class = 1, .sparse_y_pred = false})},
      {"binary_iou", "bit", BinaryIoU({.target_class_ids = {1}, .threshold = 0.4})},
      {"one_hot_iou", "shares", OneHotIoU(5, {1, 3})},
      {"one_hot_mean_iou", "shares", OneHotMeanIoU(5)},
      {"pearson", "numbers", PearsonCorrelation()},
      {"concordance", "numbers", ConcordanceCorrelation()},
      {"mean", "numbers", metrics::Mean()},
      {"sum", "numbers", metrics::Sum()},
  };
}

Tensor rows_of(const Tensor& t, int64_t from, int64_t to) {
  Ints starts(static_cast<size_t>(t.rank()), 0);
  Ints limits(t.shape().begin(), t.shape().end());
  starts[0] = from;
  limits[0] = to;
  return slice(t, starts, limits);
}

// Two batches of 7 and 5 samples, as in train.py.
double measured(const Metric& metric, const Tensor& y, const Tensor& p, const Tensor& weight) {
  MetricState state("m", metric);
  for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 7}, {7, 12}}) {
    Graph graph;
    Trace trace(graph, false);
    std::vector<Tensor> given, inputs;
    for (const Tensor& t : {y, p, weight}) {
      if (t.defined()) given.push_back(rows_of(t, from, to));
    }
    for (const Tensor& g : given) inputs.push_back(graph.input("x", g.dtype(), g.shape()));
    state.update(trace, inputs[0], inputs[1], weight.defined() ? inputs[2] : Tensor(), {});
    trace.add_updates();
    Program::compile(graph)(given);
  }
  return state.result();
}

TEST(Metrics, AreKeras) {
  const Tensor weight = golden("data.weight");
  size_t seen = 0;
  for (const MetricRow& row : metric_rows()) {
    const Tensor y = golden("data." + row.data + ".y");
    const Tensor p = golden("data." + row.data + ".p");
    const std::vector<double> want = golden_values("metric." + row.key);
    expect_near(row.key, measured(row.metric, y, p, {}), want[0]);
    expect_near(row.key + " weighted", measured(row.metric, y, p, weight), want[1]);
    ++seen;
  }
  EXPECT_EQ(seen, testing::golden_names("metric.").size());
}

TEST(Metrics, AskedForByAStringAreCalledByIt) {
  EXPECT_EQ(Metric("mse")->name, "mse");
  EXPECT_EQ(Metric("acc")->name, "acc");
  EXPECT_EQ(metrics::MeanSquaredError()->name, "mean_squared_error");
}

}  // namespace
}  // namespace plimsoll

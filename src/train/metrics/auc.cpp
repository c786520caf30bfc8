// AUC, and one rate at the best threshold that keeps another.
#include <algorithm>
#include <cmath>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"
#include "train/confusion.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"

namespace plimsoll {
namespace {

const std::vector<std::string_view> kStates = {"true_positives", "false_positives", "true_negatives",
                                               "false_negatives"};

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

struct Counts {
  double tp, fp, tn, fn;
};
Counts counts_at(std::span<const Tensor> states, int64_t i) {
  const auto at = [&](size_t k) { return static_cast<double>(states[k].data<float>()[i]); };
  return {at(0), at(1), at(2), at(3)};
}

struct Area final : MetricBase {
  Area() { name = unique_layer_name("AUC"); }
  AucOptions o;
  std::string_view class_name() const override { return "AUC"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("num_thresholds", o.num_thresholds);
    f("curve", o.curve);
    f("summation_method", o.summation_method);
    f("multi_label", o.multi_label);
    f("num_labels", o.num_labels);
    if (f.reading() || !o.label_weights.empty()) f("label_weights", o.label_weights);
    f("from_logits", o.from_logits);
    if (f.reading() || !o.thresholds.empty()) f("thresholds", o.thresholds);
  }
  void update(MetricScope& s, const Tensor& y, const Tensor& p, const Tensor& weight) override {
    check();
    ConfusionArgs args;
    args.multi_label = o.multi_label;
    args.label_weights = o.label_weights;
    args.clip_first = true;
    if (o.thresholds.empty()) {
      args.even = o.num_thresholds;
    } else {
      args.thresholds = o.thresholds;
      std::sort(args.thresholds.begin(), args.thresholds.end());
      args.thresholds.insert(args.thresholds.begin(), 0.0);
      args.thresholds.push_back(1.0);
      if (is_even(args.thresholds)) args.even = std::ssize(args.thresholds);
      args.thresholds.front() = -kEpsilon;
      args.thresholds.back() = 1 + kEpsilon;
    }
    add_to_confusion(s, kStates, y, o.from_logits ? sigmoid(p) : p, weight, args);
  }
  double result(std::span<const Tensor> states) override {
    const int64_t labels = o.multi_label ? states[0].dim(1) : 1;
    double sum = 0, weights = 0;
    for (int64_t label = 0; label < labels; ++label) {
      const bool weighted = o.multi_label && std::ssize(o.label_weights) == labels;
      const double w = weighted ? o.label_weights[static_cast<size_t>(label)] : 1;
      sum += w * area(states, label, labels);
      weights += w;
    }
    return ratio(sum, weights);
  }

 private:
  void check() const {
    require(o.curve == "ROC" || o.curve == "PR" || o.curve == "PRGAIN", name,
            "expected the curve ROC, PR or PRGAIN, got '", o.curve, "'");
    require(o.summation_method == "interpolation" || o.summation_method == "minoring" ||
                o.summation_method == "majoring",
            name, "expected the summation_method interpolation, minoring or majoring, got '",
            o.summation_method, "'");
    require(!o.thresholds.empty() || o.num_thresholds > 1, name, "expected num_thresholds > 1, got ",
            o.num_thresholds);
    require(o.multi_label || !o.num_labels, name, "num_labels is needed only with multi_label");
  }
  double area(std::span<const Tensor> states, int64_t label, int64_t labels) const {
    const int64_t n = states[0].dim(0);
    double sum = 0;
    for (int64_t i = 0; i + 1 < n; ++i) {
      const Counts low = counts_at(states, i * labels + label);
      const Counts high = counts_at(states, (i + 1) * labels + label);
      if (o.curve == "PR" && o.summation_method == "interpolation") {
        sum += interpolated_pr(low, high);
        continue;
      }
      const auto [x0, y0] = point(low);
      const auto [x1, y1] = point(high);
      double height = (y0 + y1) / 2;
      if (o.summation_method == "minoring") height = std::min(y0, y1);
      if (o.summation_method == "majoring") height = std::max(y0, y1);
      sum += (x0 - x1) * height;
    }
    return sum;
  }
  std::pair<double, double> point(const Counts& c) const {
    const double recall = ratio(c.tp, c.tp + c.fn);
    if (o.curve == "ROC") return {ratio(c.fp, c.fp + c.tn), recall};
    if (o.curve == "PR") return {recall, ratio(c.tp, c.tp + c.fp)};
    if (c.tp == 0) return {0, 1};
    const double scale = ratio(c.tp + c.fn, c.tn + c.fp);
    return {std::max(1 - scale * ratio(c.fn, c.tp), 0.0), 1 - scale * ratio(c.fp, c.tp)};
  }
  static double interpolated_pr(const Counts& low, const Counts& high) {
    const double positives_low = low.tp + low.fp;
    const double positives_high = high.tp + high.fp;
    const double gained = low.tp - high.tp;
    const double slope = ratio(gained, std::max(positives_low - positives_high, 0.0));
    const double intercept = high.tp - slope * positives_high;
    const double grown = positives_low > 0 && positives_high > 0 ? positives_low / positives_high : 1;
    return ratio(slope * (gained + intercept * std::log(grown)), std::max(high.tp + high.fn, 0.0));
  }
};

// Row: kClass, kField, kept(Counts), wanted(Counts). The largest `wanted` where `kept` is at least o.value.
template <class Row>
struct BestAt final : MetricBase {
  struct Options : AtOptions {
    double value = 0.5;
  };
  BestAt() { name = unique_layer_name(Row::kClass); }
  Options o;
  std::string_view class_name() const override { return Row::kClass; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("class_id", o.class_id);
    f("num_thresholds", o.num_thresholds);
    f(Row::kField, o.value);
  }
  void update(MetricScope& s, const Tensor& y, const Tensor& p, const Tensor& weight) override {
    ConfusionArgs args;
    args.class_id = o.class_id;
    if (o.num_thresholds > 1) args.even = o.num_thresholds;
    add_to_confusion(s, kStates, y, p, weight, args);
  }
  double result(std::span<const Tensor> states) override {
    double best = 0;
    for (int64_t i = 0; i < states[0].dim(0); ++i) {
      const Counts c = counts_at(states, i);
      if (Row::kept(c) >= o.value) best = std::max(best, Row::wanted(c));
    }
    return best;
  }
};

double recall_of(const Counts& c) { return ratio(c.tp, c.tp + c.fn); }
double specificity_of(const Counts& c) { return ratio(c.tn, c.tn + c.fp); }
double precision_of(const Counts& c) { return ratio(c.tp, c.tp + c.fp); }

struct SensitivityAtSpecificityRow {
  static constexpr std::string_view kClass = "SensitivityAtSpecificity", kField = "specificity";
  static double kept(const Counts& c) { return specificity_of(c); }
  static double wanted(const Counts& c) { return recall_of(c); }
};
struct SpecificityAtSensitivityRow {
  static constexpr std::string_view kClass = "SpecificityAtSensitivity", kField = "sensitivity";
  static double kept(const Counts& c) { return recall_of(c); }
  static double wanted(const Counts& c) { return specificity_of(c); }
};
struct PrecisionAtRecallRow {
  static constexpr std::string_view kClass = "PrecisionAtRecall", kField = "recall";
  static double kept(const Counts& c) { return recall_of(c); }
  static double wanted(const Counts& c) { return precision_of(c); }
};
struct RecallAtPrecisionRow {
  static constexpr std::string_view kClass = "RecallAtPrecision", kField = "precision";
  static double kept(const Counts& c) { return precision_of(c); }
  static double wanted(const Counts& c) { return recall_of(c); }
};

template <class Row>
Metric make_best_at(double value, const AtOptions& options) {
  require(value >= 0 && value <= 1, Row::kClass, "expected ", Row::kField, " between 0 and 1, got ", value);
  require(options.num_thresholds > 0, Row::kClass, "expected num_thresholds > 0, got ",
          options.num_thresholds);
  typename BestAt<Row>::Options all;
  static_cast<AtOptions&>(all) = options;
  all.value = value;
  return make_metric<BestAt<Row>>(all);
}
template <class Row>
constexpr ClassDef best_at_row(std::string_view alias) {
  return {Family::metric, Row::kClass, alias, make_default<BestAt<Row>>, {Row::kField}};
}

}  // namespace

namespace metrics {
Metric AUC(const AucOptions& o) { return make_metric<Area>(o); }
Metric SensitivityAtSpecificity(double v, const AtOptions& o) {
  return make_best_at<SensitivityAtSpecificityRow>(v, o);
}
Metric SpecificityAtSensitivity(double v, const AtOptions& o) {
  return make_best_at<SpecificityAtSensitivityRow>(v, o);
}
Metric PrecisionAtRecall(double v, const AtOptions& o) { return make_best_at<PrecisionAtRecallRow>(v, o); }
Metric RecallAtPrecision(double v, const AtOptions& o) { return make_best_at<RecallAtPrecisionRow>(v, o); }
}  // namespace metrics

std::span<const ClassDef> classes_auc() {
  static constexpr ClassDef rows[] = {
      {Family::metric, "AUC", "auc", make_default<Area>},
      best_at_row<SensitivityAtSpecificityRow>("sensitivity_at_specificity"),
      best_at_row<SpecificityAtSensitivityRow>("specificity_at_sensitivity"),
      best_at_row<PrecisionAtRecallRow>("precision_at_recall"),
      best_at_row<RecallAtPrecisionRow>("recall_at_precision"),
  };
  return rows;
}

}  // namespace plimsoll

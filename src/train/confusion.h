// Counts of a confusion matrix at one or many thresholds (keras/src/metrics/metrics_utils.py).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "plimsoll/metrics.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

struct ConfusionArgs {
  std::vector<double> thresholds = {0.5};
  int64_t even = 0;         // not 0: in place of these so many, 0, 1/(n-1), ..., 1, counted in buckets
  bool clip_first = false;  // even, with the ends moved out by epsilon (AUC)
  std::optional<int64_t> top_k, class_id;
  bool multi_label = false;           // one column of counts per label
  std::vector<double> label_weights;  // empty: ones; not with multi_label
};

bool is_even(const std::vector<double>& thresholds);

// Adds the batch to those of the states "true_positives", "false_positives", "true_negatives",
// "false_negatives" that are named; each is (thresholds) or, with multi_label, (thresholds, labels).
void add_to_confusion(MetricScope& s, const std::vector<std::string_view>& states, const Tensor& y_true,
                      const Tensor& y_pred, const Tensor& weight, const ConfusionArgs& args);

}  // namespace plimsoll

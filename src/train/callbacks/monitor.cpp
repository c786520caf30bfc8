#include "train/callbacks/monitor.h"

#include <cmath>
#include <cstdio>

#include "common/log.h"
#include "common/names.h"

namespace plimsoll {
namespace {

// What is to rise, by the names of Keras's metrics; all others are to fall.
bool rises_by_name(std::string_view name) {
  if (name.starts_with("val_")) name.remove_prefix(4);
  for (const std::string_view part : {"acc",
                                      "auc",
                                      "AUC",
                                      "precision",
                                      "recall",
                                      "f1",
                                      "fbeta",
                                      "r2_score",
                                      "io_u",
                                      "iou",
                                      "IoU",
                                      "cosine_similarity",
                                      "specificity",
                                      "sensitivity",
                                      "true_positives",
                                      "true_negatives",
                                      "Precision",
                                      "Recall",
                                      "F1",
                                      "R2"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

Monitor::Monitor(std::string_view place, std::string name, std::string mode, double min_delta)
    : place_(place), name_(std::move(name)), min_delta_(std::abs(min_delta)) {
  require(mode == "auto" || mode == "min" || mode == "max", place,
          "expected the mode auto, min or max, got '", mode, "'");
  rises_ = mode == "max" || (mode == "auto" && rises_by_name(name_));
}

std::optional<double> Monitor::value(const Logs& logs) const {
  if (const double* found = find_log(logs, name_)) return *found;
  warn(place_, "there is no '", name_, "' to look at; there are: ", nearest_first(name_, log_names(logs)));
  return std::nullopt;
}

bool Monitor::improved(double value, const std::optional<double>& best) const {
  if (!best) return true;
  return rises_ ? value - min_delta_ > *best : value + min_delta_ < *best;
}

std::vector<std::string> log_names(const Logs& logs) {
  std::vector<std::string> names;
  for (const auto& [name, value] : logs) names.push_back(name);
  return names;
}

std::string shortest(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  double back = 0;
  for (int digits = 6; digits < 17; ++digits) {
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    if (std::sscanf(shorter, "%lf", &back) == 1 && back == value) return shorter;
  }
  return text;
}

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace plimsoll

#include "train/objective.h"

#include <algorithm>
#include <cmath>

#include "common/names.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "train/reduction.h"

namespace plimsoll {
namespace {

// One value for each output. A lone one serves all if `spread`.
template <class T>
std::vector<T> for_outputs(const PerOutput<T>& given, const std::vector<std::string>& names,
                           std::string_view argument, bool spread, const T& absent) {
  std::vector<T> all(names.size(), absent);
  for (const auto& [name, value] : given.by_name) {
    const auto found = std::find(names.begin(), names.end(), name);
    require(found != names.end(), "compile", argument, " names the output '", name,
            "'; there are: ", nearest_first(name, names));
    all[static_cast<size_t>(found - names.begin())] = value;
  }
  if (given.list.empty()) return all;
  if (spread && given.list.size() == 1) return std::vector<T>(names.size(), given.list[0]);
  require(given.list.size() == names.size(), "compile", "expected ", argument, " for each of ", names.size(),
          " outputs, got ", given.list.size());
  return given.list;
}

// Integers and half floats are worked on as float32; labels stay integers.
Tensor widened(const Tensor& x) { return is_float(x.dtype()) ? cast(x, DType::f32) : x; }

}  // namespace

Objective::Objective(const CompileArgs& args, std::vector<std::string> output_names)
    : names_(std::move(output_names)), total_("loss", Metric()) {
  losses_ = for_outputs(args.loss, names_, "a loss", true, plimsoll::Loss());
  require(args.loss.by_name.empty() || args.loss.by_name.size() == names_.size(), "compile",
          "expected a loss for each of the outputs: ", joined(names_));
  loss_weights_ = for_outputs(args.loss_weights, names_, "a loss weight", false, 1.0);
  for (const double w : loss_weights_)
    require(std::isfinite(w), "compile", "expected finite loss weights, got ", w);
  const auto count =
      std::count_if(losses_.begin(), losses_.end(), [](const plimsoll::Loss& l) { return bool(l); });
  if (count > 1) {
    for (const std::string& name : names_) output_losses_.emplace_back(name + "_loss", Metric());
  }
  add_metrics(args.metrics, args.metrics_per_output, false);
  add_metrics(args.weighted_metrics, args.weighted_metrics_per_output, true);
}

void Objective::add_metrics(const std::vector<Metric>& flat, const PerOutput<std::vector<Metric>>& per_output,
                            bool weighted) {
  const std::string_view argument = weighted ? "weighted_metrics" : "metrics";
  std::vector<std::vector<Metric>> all =
      for_outputs(per_output, names_, argument, false, std::vector<Metric>());
  if (names_.size() == 1) {
    all[0].insert(all[0].end(), flat.begin(), flat.end());
  } else if (!flat.empty()) {
    require(flat.size() == names_.size(), "compile", "expected ", argument, " for each of ", names_.size(),
            " outputs, got ", flat.size());
    for (size_t i = 0; i < flat.size(); ++i) {
      if (flat[i]) all[i].push_back(flat[i]);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (const Metric& m : all[i]) {
      require(bool(m), "compile", "expected a metric, got none");
      metrics_.push_back({i, weighted, MetricState(metric_name(i, m->name, weighted), m)});
    }
  }
}

bool Objective::has_name(const std::string& name) const {
  return std::any_of(metrics_.begin(), metrics_.end(),
                     [&](const Watched& m) { return m.state.name() == name; });
}

std::string Objective::metric_name(size_t output, const std::string& name, bool weighted) const {
  const std::string prefix = names_.size() > 1 ? names_[output] + "_" : "";
  std::string base = prefix + name;
  if (!has_name(base)) return base;
  if (weighted) base = prefix + "weighted_" + name;
  std::string unique = base;
  for (int n = 1; has_name(unique); ++n) unique = concat(base, "_", n);
  return unique;
}

Tensor Objective::weight_of(const StepTargets& t, size_t output) const {
  if (t.weights.empty()) return {};
  return t.weights.size() == 1 ? t.weights[0] : t.weights[output];
}

Objective::Loss Objective::trace_loss(Trace& trace, const StepTargets& t, const std::vector<Tensor>& extra) {
  const size_t n = names_.size();
  require(t.y_true.size() == n && t.y_pred.size() == n, "fit", "expected targets for each of ", n,
          " outputs (", joined(names_), "), got ", t.y_true.size());
  require(t.weights.size() <= 1 || t.weights.size() == n, "fit",
          "expected sample weights for all or each of ", n, " outputs, got ", t.weights.size());
  Loss loss;
  const auto add = [](Tensor& sum, const Tensor& part) { sum = sum.defined() ? sum + part : part; };
  Tensor samples;
  if (n > 0 && t.y_pred[0].rank() > 0)
    samples = Tensor::full(DType::f32, {}, static_cast<double>(t.y_pred[0].dim(0)));
  for (size_t i = 0; i < n; ++i) {
    if (!losses_[i]) continue;
    const Tensor p = widened(t.y_pred[i]);
    const Tensor y = widened(t.y_true[i]);
    Tensor mask = trace.mask(t.y_pred[i]);
    const Tensor counted = losses_[i]->counted(y, p);
    if (counted.defined()) mask = mask.defined() ? bitwise_and(cast(mask, DType::boolean), counted) : counted;
    const Tensor value = cast(
        reduce_weighted(losses_[i]->call(y, p), weight_of(t, i), mask, losses_[i]->reduction), DType::f32);
    const Tensor summed = value.rank() > 0 ? sum(value) : value;
    const Tensor averaged = value.rank() > 0 ? mean(value) : value;
    if (!output_losses_.empty()) output_losses_[i].add_to_mean(trace, averaged, samples);
    const double weight = loss_weights_[i];
    add(loss.minimized, weight == 1 ? summed : summed * weight);
    add(loss.logged, weight == 1 ? averaged : averaged * weight);
  }
  for (const Tensor& e : extra) {
    const Tensor part = sum(cast(e, DType::f32));
    add(loss.minimized, part);
    add(loss.logged, part);
  }
  require(loss.minimized.defined(), "fit", "there is no loss to compute; give compile() a loss");
  total_.add_to_mean(trace, loss.logged, samples);
  return loss;
}

void Objective::trace_metrics(Trace& trace, const StepTargets& t) {
  for (Watched& m : metrics_) {
    m.state.update(trace, widened(t.y_true[m.output]), widened(t.y_pred[m.output]),
                   m.weighted ? weight_of(t, m.output) : Tensor(), trace.mask(t.y_pred[m.output]));
  }
}

Logs Objective::logs() const {
  Logs logs = {{total_.name(), total_.result()}};
  for (size_t i = 0; i < output_losses_.size(); ++i) {
    if (losses_[i]) logs.emplace_back(output_losses_[i].name(), output_losses_[i].result());
  }
  for (const Watched& m : metrics_) logs.emplace_back(m.state.name(), m.state.result());
  std::sort(logs.begin(), logs.end());
  return logs;
}

void Objective::reset() {
  total_.reset();
  for (MetricState& m : output_losses_) m.reset();
  for (Watched& m : metrics_) m.state.reset();
}

std::vector<VariablePtr> Objective::states() const {
  std::vector<VariablePtr> all = total_.states();
  const auto add = [&](const MetricState& m) { all.insert(all.end(), m.states().begin(), m.states().end()); };
  for (const MetricState& m : output_losses_) add(m);
  for (const Watched& m : metrics_) add(m.state);
  return all;
}

}  // namespace plimsoll

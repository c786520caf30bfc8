#include "train/nan_watch.h"

#include <cmath>

#include "common/log.h"
#include "plimsoll/error.h"

namespace plimsoll {

NanWatch::Policy NanWatch::policy_of(const std::string& on_nan) {
  if (on_nan.empty()) return Policy::none;
  if (on_nan == "raise") return Policy::raise;
  if (on_nan == "skip") return Policy::skip;
  if (on_nan == "warn") return Policy::warn;
  fail(ErrorKind::invalid_argument, "fit",
       "expected on_nan to be \"raise\", \"skip\", \"warn\" or empty, got '", on_nan, "'");
}

NanWatch::NanWatch(Trainer& trainer, const std::string& on_nan, bool hold_updates)
    : trainer_(trainer), policy_(policy_of(on_nan)), hold_(hold_updates) {
  require(policy_ != Policy::none || !hold_, "fit", "hold_updates is for on_nan, which is not set");
}

NanWatch::~NanWatch() { trainer_.set_nan_watching(NanWatching::off); }

void NanWatch::begin() {
  if (policy_ == Policy::none) return;
  trainer_.set_nan_watching(hold_ ? NanWatching::held : NanWatching::each);
}

void NanWatch::hit(const Batch& batch, int64_t epoch, int64_t step) {
  const bool loss_is_bad = !std::isfinite(trainer_.last_loss());
  const bool untouched = loss_is_bad || hold_ || trainer_.optimizer().needs_all();
  std::string message = concat("epoch ", epoch + 1, ", batch ", step, ": ");
  message += loss_is_bad ? "the loss is not finite" : "a gradient is not finite, though the loss is";
  if (!untouched) message += " (updates made before it stand; hold_updates holds all of them back)";
  ++left_out_;
  if (policy_ == Policy::raise) throw NonFiniteError(message, trainer_.find_nonfinite(batch));
  if (left_out_ > 1) return;
  const std::string where = trainer_.find_nonfinite(batch).str();
  if (policy_ == Policy::skip) {
    warn("fit", message, "; the step is left out; ", where);
    return;
  }
  // Said once; from here on all is as without a watch.
  warn("fit", message, "; ", where);
  trainer_.set_nan_watching(NanWatching::off);
  left_out_ = 0;
  if (untouched) trainer_.step(StepKind::train, batch);
}

}  // namespace plimsoll

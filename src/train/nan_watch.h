// NanWatch: what fit() does about steps whose numbers are not finite (FitArgs::on_nan).
#pragma once

#include <string>

#include "train/trainer.h"

namespace plimsoll {

class NanWatch {
 public:
  // Throws Error{invalid_argument} for a policy that is none.
  NanWatch(Trainer& trainer, const std::string& on_nan, bool hold_updates);
  ~NanWatch();
  NanWatch(const NanWatch&) = delete;
  NanWatch& operator=(const NanWatch&) = delete;

  // From now on training steps are watched; before they are planned.
  void begin();
  // After each training step. Throws NonFiniteError if the policy is to raise.
  void after(const Batch& batch, int64_t epoch, int64_t step) {
    if (!trainer_.finite()) [[unlikely]]
      hit(batch, epoch, step);
  }
  int64_t left_out() const { return left_out_; }

 private:
  enum class Policy { none, raise, skip, warn };
  static Policy policy_of(const std::string& on_nan);
  void hit(const Batch& batch, int64_t epoch, int64_t step);

  Trainer& trainer_;
  Policy policy_;
  bool hold_;
  int64_t left_out_ = 0;
};

}  // namespace plimsoll

// Budget: a share of the account with a line of its own: what one fit(), or one model, holds. What is charged
// while a BudgetScope lives goes to its Budget too, and stays there until it is released, by whatever thread.
// The process's line in the account stands beside it. Held by shared_ptr: bytes may outlive who took them.
// All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "memory/account.h"

namespace plimsoll {

class Budget {
 public:
  explicit Budget(int64_t limit = account::kNoLimit) : limit_(limit) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // The one that charges on this thread go to; nullptr: none.
  static const std::shared_ptr<Budget>& current() noexcept;

  // False if this, or what it is part of, would cross its line; nothing is taken then. The account is charged
  // by charge() below.
  bool take(int64_t bytes) noexcept;
  void give(int64_t bytes) noexcept;
  // Whether take() refuses; true at first. While false it counts only, but there is a line all the same: for
  // planning what is to be held under it.
  void set_refusing(bool on) noexcept;
  // Counts bytes that are held already. They may lie above the line: only what is taken further is refused.
  void add(int64_t bytes) noexcept;
  // From now on all that this one holds counts in `whole` too, what it holds already with it; nullptr: no
  // longer.
  void set_whole(std::shared_ptr<Budget> whole) noexcept;

  int64_t used() const;
  int64_t peak() const;  // the most it has held
  int64_t limit() const { return limit_; }
  bool has_line() const;  // its own, or that of what it is part of
  int64_t left() const;   // below the nearer of these; kNoLimit: there is none
  // Throws Error{out_of_memory} with the numbers of the one whose line `bytes` more would cross.
  [[noreturn]] void refuse(Owner owner, int64_t bytes) const;

 private:
  bool would_cross(int64_t bytes) const { return refusing_ && (used_ > limit_ || bytes > limit_ - used_); }

  mutable std::mutex mutex_;
  const int64_t limit_;
  bool refusing_ = true;
  int64_t used_ = 0, peak_ = 0;
  std::shared_ptr<Budget> whole_;
};

// Charges of this thread go to `budget` (nullptr: to none) while this lives; then to the one before.
class BudgetScope {
 public:
  explicit BudgetScope(std::shared_ptr<Budget> budget);
  ~BudgetScope();
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;

 private:
  std::shared_ptr<Budget> before_;
};

namespace account {

// Whether a line holds what this thread charges: the process's, or its budget's.
bool under_line() noexcept;
// Bytes below the nearer of these, negative if it is crossed; kNoLimit: there is none.
int64_t left() noexcept;
// charge() and release() for the budget as well, where there is one.
void charge(Owner owner, int64_t bytes, Budget* budget);
void release(Owner owner, int64_t bytes, Budget* budget) noexcept;

}  // namespace account
}  // namespace plimsoll

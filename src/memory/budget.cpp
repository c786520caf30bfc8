#include "memory/budget.h"

#include <algorithm>
#include <utility>

#include "common/bytes.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

thread_local std::shared_ptr<Budget> the_current;

}  // namespace

const std::shared_ptr<Budget>& Budget::current() noexcept { return the_current; }

// A part locks itself before its whole, never the other way.
bool Budget::take(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (would_cross(bytes) || (whole_ && !whole_->take(bytes))) return false;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return true;
}

void Budget::refuse(Owner owner, int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (whole_ && !would_cross(bytes)) whole_->refuse(owner, bytes);
  fail(ErrorKind::out_of_memory, "memory", bytes_text(bytes), " for ", name_of(owner),
       " would cross the line of this fit of ", bytes_text(limit_), ": it holds ", bytes_text(used_));
}

void Budget::give(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  if (whole_) whole_->give(bytes);
}

void Budget::set_refusing(bool on) noexcept {
  const std::lock_guard lock(mutex_);
  refusing_ = on;
}

void Budget::add(int64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  if (whole_) whole_->add(bytes);
}

void Budget::set_whole(std::shared_ptr<Budget> whole) noexcept {
  const std::lock_guard lock(mutex_);
  if (whole) whole->add(used_);
  if (whole_) whole_->give(used_);
  whole_ = std::move(whole);
}

bool Budget::has_line() const {
  const std::lock_guard lock(mutex_);
  return limit_ != account::kNoLimit || (whole_ && whole_->has_line());
}

int64_t Budget::left() const {
  const std::lock_guard lock(mutex_);
  const int64_t own = limit_ == account::kNoLimit ? account::kNoLimit : limit_ - used_;
  return whole_ ? std::min(own, whole_->left()) : own;
}

int64_t Budget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

int64_t Budget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

BudgetScope::BudgetScope(std::shared_ptr<Budget> budget)
    : before_(std::exchange(the_current, std::move(budget))) {}
BudgetScope::~BudgetScope() { the_current = std::move(before_); }

namespace account {

bool under_line() noexcept {
  return limit() != kNoLimit || (the_current != nullptr && the_current->has_line());
}

int64_t left() noexcept {
  const int64_t own = limit() == kNoLimit ? kNoLimit : limit() - used();
  return the_current ? std::min(own, the_current->left()) : own;
}

void charge(Owner owner, int64_t bytes, Budget* budget) {
  if (budget == nullptr) return charge(owner, bytes);
  if (!take_or_reclaim([&] { return budget->take(bytes); })) budget->refuse(owner, bytes);
  try {
    charge(owner, bytes);
  } catch (...) {
    budget->give(bytes);
    throw;
  }
}

void release(Owner owner, int64_t bytes, Budget* budget) noexcept {
  release(owner, bytes);
  if (budget != nullptr) budget->give(bytes);
}

}  // namespace account
}  // namespace plimsoll

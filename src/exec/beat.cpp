#include "exec/beat.h"

#include <utility>

namespace plimsoll {
namespace {

constinit thread_local Beat unwatched;
constinit thread_local Beat* now = nullptr;

}  // namespace

Beat& Beat::current() noexcept { return now == nullptr ? unwatched : *now; }

Beat::Run::Run(const Steps& steps) noexcept : beat_(current()), outer_(nullptr) {
  beat_.runs.store(beat_.runs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!beat_.watched_) return;
  const std::lock_guard lock(beat_.mutex_);
  beat_.step.store(0, std::memory_order_relaxed);
  outer_ = std::exchange(beat_.running_, &steps);
}

Beat::Run::~Run() {
  if (!beat_.watched_) return;
  const std::lock_guard lock(beat_.mutex_);
  beat_.running_ = outer_;
}

BeatScope::BeatScope(Beat& beat) noexcept : before_(std::exchange(now, &beat)) { beat.watched_ = true; }
BeatScope::~BeatScope() { now = before_; }

}  // namespace plimsoll

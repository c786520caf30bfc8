#include "train/interrupt.h"

#include <atomic>

namespace plimsoll {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");
std::atomic<bool> flag{false};
std::atomic<int> watches{0};

void on_interrupt(int signal) {
  if (!flag.exchange(true)) return;
  struct sigaction fresh = {};
  fresh.sa_handler = SIG_DFL;
  sigaction(signal, &fresh, nullptr);
  raise(signal);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  if (watches.fetch_add(1) > 0) return;
  flag = false;
  struct sigaction own = {};
  own.sa_handler = on_interrupt;
  sigemptyset(&own.sa_mask);
  own.sa_flags = SA_RESTART;
  set_ = sigaction(SIGINT, &own, &before_) == 0;
}

InterruptWatch::~InterruptWatch() {
  watches.fetch_sub(1);
  if (set_) sigaction(SIGINT, &before_, nullptr);
}

bool InterruptWatch::interrupted() { return flag.load(std::memory_order_relaxed); }

}  // namespace plimsoll

#include "train/interrupt.h"

#include <atomic>
#include <csignal>
#include <mutex>

namespace plimsoll {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");
std::atomic<bool> flag{false};

// Of all watches.
std::mutex mutex;
int watches = 0;
bool handled = false;
struct sigaction before;

void on_interrupt(int signal) {
  if (!flag.exchange(true)) return;
  struct sigaction fresh = {};
  fresh.sa_handler = SIG_DFL;
  sigaction(signal, &fresh, nullptr);
  raise(signal);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  const std::lock_guard lock(mutex);
  if (watches++ > 0) return;
  flag = false;
  struct sigaction own = {};
  own.sa_handler = on_interrupt;
  sigemptyset(&own.sa_mask);
  own.sa_flags = SA_RESTART;
  handled = sigaction(SIGINT, &own, &before) == 0;
}

InterruptWatch::~InterruptWatch() {
  const std::lock_guard lock(mutex);
  if (--watches == 0 && handled) sigaction(SIGINT, &before, nullptr);
}

bool InterruptWatch::interrupted() { return flag.load(std::memory_order_relaxed); }

}  // namespace plimsoll

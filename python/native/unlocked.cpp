#include "unlocked.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace plimsoll::python {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

std::atomic<bool> ending{false};
std::atomic<int> unlocked{0};  // threads without the lock that will ask for it
// This thread ends the interpreter: functions of the program that run at exit may still train and save.
thread_local bool is_last = false;

// In a child process those threads are not there.
[[maybe_unused]] const int at_fork = ::pthread_atfork(nullptr, nullptr, [] { unlocked = 0; });

}  // namespace

void stay_if_late() {
  if (!ending || is_last) return;
  --unlocked;
  for (;;) ::pause();
}

Unlocked::Unlocked() {
  ++unlocked;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  stay_if_late();
  PyEval_RestoreThread(state_);
  --unlocked;
}

Relocked::Relocked() {
  stay_if_late();
  state_ = PyGILState_Ensure();
}

Relocked::~Relocked() { PyGILState_Release(state_); }

void hold_late_threads() {
  is_last = true;
  ending = true;
  PyThreadState* state = PyEval_SaveThread();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (unlocked > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  PyEval_RestoreThread(state);
}

}  // namespace plimsoll::python

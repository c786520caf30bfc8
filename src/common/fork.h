// What lets a forked child go on using the engine. A child has one thread, the one that called fork(): a
// mutex that another thread held at that moment would stay locked there for good, and what it guards half
// changed. So every mutex that is not part of an object is a ForkMutex: fork() takes all of them before it
// copies the process, and both sides give them back.
//
// Objects that have threads of their own (a data set being read, for one) belong to the parent: a child makes
// its own. Not covered is a static that another thread is making for the first time while fork() runs.
#pragma once

#include <mutex>

namespace plimsoll {

// In the order in which one thread may take them, and fork() does.
enum class LockOrder { onednn, reclaim, caches, seeds, devices, buffers, workers, log };

// Lives until the process ends.
class ForkMutex {
 public:
  explicit ForkMutex(LockOrder order) noexcept;
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  friend struct ForkList;
  std::mutex mutex_;
  const LockOrder order_;
  ForkMutex* next_ = nullptr;
};

// Calls `renew` in every forked child, when its mutexes are free: for what has to begin afresh there. At most
// four.
void on_fork_in_child(void (*renew)() noexcept) noexcept;

}  // namespace plimsoll

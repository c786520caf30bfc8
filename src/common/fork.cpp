#include "common/fork.h"

#include <pthread.h>

#include <array>
#include <atomic>

namespace plimsoll {

// Nothing is taken to add to the list: a thread that holds a mutex may make another.
struct ForkList {
  std::atomic<ForkMutex*> first{nullptr};
  ForkMutex* held = nullptr;  // the first of those that a fork() holds, and guarded by them
  std::array<std::atomic<void (*)() noexcept>, 4> renewals{};
  std::atomic<size_t> renewal_count{0};

  void add(ForkMutex& added) noexcept {
    added.next_ = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(added.next_, &added)) {
    }
  }

  static void unlock_from(ForkMutex* all) {
    for (ForkMutex* m = all; m != nullptr; m = m->next_) m->unlock();
  }

  void lock_all() {
    for (;;) {
      ForkMutex* const all = first.load();
      for (int order = 0; order <= static_cast<int>(LockOrder::log); ++order) {
        for (ForkMutex* m = all; m != nullptr; m = m->next_) {
          if (static_cast<int>(m->order_) == order) m->lock();
        }
      }
      held = all;
      if (first.load() == all) return;
      unlock_from(all);  // one was made meanwhile, which may come before those that are held
    }
  }

  void unlock_all() { unlock_from(held); }

  void begin_child() {
    unlock_all();
    for (const auto& renew : renewals) {
      if (const auto f = renew.load()) f();
    }
  }
};

namespace {

ForkList& list() noexcept {
  static ForkList* const all = [] {
    static ForkList made;
    pthread_atfork([] { list().lock_all(); }, [] { list().unlock_all(); }, [] { list().begin_child(); });
    return &made;
  }();
  return *all;
}

}  // namespace

ForkMutex::ForkMutex(LockOrder order) noexcept : order_(order) { list().add(*this); }

void on_fork_in_child(void (*renew)() noexcept) noexcept {
  ForkList& all = list();
  const size_t at = all.renewal_count.fetch_add(1);
  if (at < all.renewals.size()) all.renewals[at].store(renew);
}

}  // namespace plimsoll

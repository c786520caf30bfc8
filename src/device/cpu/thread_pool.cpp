#include "device/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

#include "device/cpu/denormals.h"

namespace plimsoll {
namespace {

using Clock = std::chrono::steady_clock;
// Who sleeps, or yields, on a busy machine gets its core back after another's time slice, milliseconds later.
constexpr auto kSpin = std::chrono::microseconds(30);           // after a job
constexpr auto kSpinInRegion = std::chrono::microseconds(500);  // after a job, while a Program runs
constexpr auto kSpinForTeam = std::chrono::microseconds(500);   // a member waiting for the others

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Words that are waited for are changed in sequentially consistent order: notify must not look for
// sleepers before the change is seen. Waits until `word` is no longer `old`: spins as long as
// `budget()` allows, then sleeps.
template <class Budget>
void wait_change(const std::atomic<uint32_t>& word, uint32_t old, Budget budget) noexcept {
  const auto begin = Clock::now();
  for (Clock::duration spun{0}; spun < budget(); spun = Clock::now() - begin) {
    for (int i = 0; i < 64; ++i) {
      if (word.load(std::memory_order_acquire) != old) return;
      relax();
    }
  }
  word.wait(old, std::memory_order_acquire);
}

struct Pool {
  struct alignas(64) Worker {
    std::atomic<uint32_t> ticket{0};  // counts the jobs given to this worker
  };

  // The present job: written by the owner of `busy` before the tickets, read by the workers that get one.
  team::Member member = nullptr;
  void* context = nullptr;
  int size = 1;
  int cpu = -1;  // where the owner runs

  std::atomic<uint32_t> busy{0};              // 1: someone's team is running
  std::atomic<int> started{0};                // workers there are
  alignas(64) std::atomic<uint32_t> left{0};  // workers that have not finished the job
  alignas(64) std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> phase{0};
  std::mutex starting;
  std::array<Worker, kMaxThreads> workers;  // workers[i] is member i; [0] stays unused
};

std::atomic<int> open_regions{0};

// Never destroyed: workers may still look at it while the process exits. A forked child replaces it, as
// the threads of the old one do not exist there and its lock may be taken for good.
std::atomic<Pool*> the_pool{nullptr};

Pool& pool() {
  Pool* p = the_pool.load(std::memory_order_acquire);
  if (p) [[likely]]
    return *p;
  static std::mutex making;
  std::lock_guard lock(making);
  if (!(p = the_pool.load(std::memory_order_acquire))) {
    static const int registered =
        pthread_atfork(nullptr, nullptr, [] { the_pool.store(new Pool, std::memory_order_release); });
    (void)registered;
    p = new Pool;
    the_pool.store(p, std::memory_order_release);
  }
  return *p;
}

struct ThreadState {
  team::Place place;
  int depth = 0;        // of begin() without end() on this thread
  bool worker = false;  // then a team is always open
};
thread_local ThreadState self;

// On a loaded machine the kernel likes to wake a worker on the core of the thread that woke it, and leaves
// both there, at half speed each, for milliseconds. Asking for any other core once moves it; it then tends to
// stay.
void leave_cpu(int cpu) noexcept {
  cpu_set_t allowed, others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  others = allowed;
  CPU_CLR(cpu, &others);
  if (sched_setaffinity(0, sizeof others, &others) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

void worker_main(Pool& p, int index) noexcept {
  const FlushDenormals for_good;  // as the callers of our kernels do: results do not depend on who computes
  self.worker = true;
  std::atomic<uint32_t>& ticket = p.workers[static_cast<size_t>(index)].ticket;
  for (uint32_t seen = 0;;) {
    wait_change(ticket, seen,
                [] { return open_regions.load(std::memory_order_relaxed) > 0 ? kSpinInRegion : kSpin; });
    ++seen;
    self.place = {index, p.size};
    if (p.cpu >= 0 && sched_getcpu() == p.cpu) leave_cpu(p.cpu);
    p.member(p.context, index);
    if (p.left.fetch_sub(1) == 1) p.left.notify_one();
  }
}

// Signals belong to the threads of the application (Python handles SIGINT in its main thread).
bool start_worker(Pool& p, int index) noexcept {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  bool ok = true;
  try {
    std::thread(worker_main, std::ref(p), index).detach();
  } catch (const std::exception&) {
    ok = false;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return ok;
}

int ensure(Pool& p, int wanted) noexcept {
  if (wanted > kMaxThreads) wanted = kMaxThreads;
  int have = p.started.load(std::memory_order_acquire) + 1;
  if (have >= wanted) [[likely]]
    return wanted;
  std::lock_guard lock(p.starting);
  have = p.started.load(std::memory_order_relaxed) + 1;
  while (have < wanted && start_worker(p, have)) {
    p.started.store(have, std::memory_order_release);
    ++have;
  }
  return have < wanted ? have : wanted;
}

bool try_take(Pool& p) noexcept {
  return p.busy.load(std::memory_order_relaxed) == 0 && p.busy.exchange(1, std::memory_order_acquire) == 0;
}

// The pool is taken and has the workers.
void launch(Pool& p, int size, team::Member member, void* context) noexcept {
  p.member = member;
  p.context = context;
  p.size = size;
  p.cpu = sched_getcpu();
  p.arrived.store(0, std::memory_order_relaxed);
  p.left.store(static_cast<uint32_t>(size - 1), std::memory_order_relaxed);
  for (int i = 1; i < size; ++i) {
    std::atomic<uint32_t>& ticket = p.workers[static_cast<size_t>(i)].ticket;
    ticket.fetch_add(1);
    ticket.notify_one();
  }
  self.place = {0, size};
}

}  // namespace

int available_threads(int wanted) { return wanted <= 1 ? 1 : ensure(pool(), wanted); }

ParallelRegion::ParallelRegion() noexcept { open_regions.fetch_add(1, std::memory_order_relaxed); }
ParallelRegion::~ParallelRegion() { open_regions.fetch_sub(1, std::memory_order_relaxed); }

namespace team {

Place place() noexcept { return self.depth > (self.worker ? 0 : 1) ? Place{} : self.place; }
bool inside() noexcept { return place().size > 1; }

int try_begin(int size, Member member, void* context) noexcept {
  if (self.depth++ > 0 || self.worker || size <= 1) return 1;
  Pool& p = pool();
  size = ensure(p, size);
  if (size == 1 || !try_take(p)) return 1;
  launch(p, size, member, context);
  return size;
}

void begin(int size, Member member, void* context) noexcept {
  if (self.depth++ > 0 || self.worker || size <= 1) return;
  Pool& p = pool();
  // Only a forked child that may start no threads comes to wait here: kernels are prepared for no more
  // threads than available_threads() gave, and a library that asked for a team cannot do with a smaller one.
  while (ensure(p, size) < size) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  while (!try_take(p)) wait_change(p.busy, 1, [] { return kSpin; });
  launch(p, size, member, context);
}

void end() noexcept {
  if (--self.depth > 0 || self.worker || self.place.size == 1) return;
  Pool& p = pool();
  while (const uint32_t left = p.left.load(std::memory_order_acquire)) {
    wait_change(p.left, left, [] { return kSpinForTeam; });
  }
  self.place = {};
  p.busy.store(0);
  p.busy.notify_one();
}

void barrier() noexcept {
  if (!inside()) return;
  Pool& p = pool();
  const uint32_t phase = p.phase.load(std::memory_order_acquire);
  if (p.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(p.size)) {
    p.arrived.store(0, std::memory_order_relaxed);
    p.phase.fetch_add(1);
    p.phase.notify_all();
  } else {
    wait_change(p.phase, phase, [] { return kSpinForTeam; });
  }
}

}  // namespace team
}  // namespace plimsoll

#include "device/cpu/thread_pool.h"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <mutex>
#include <thread>

#include "common/fork.h"
#include "device/cpu/denormals.h"
#include "device/cpu/work_recorder.h"
#include "memory/resident.h"

namespace plimsoll {
namespace {

using Clock = std::chrono::steady_clock;
// Who sleeps, or yields, on a busy machine gets its core back after another's time slice, milliseconds later.
constexpr Clock::duration kSpin = std::chrono::microseconds(30);  // after a job
constexpr Clock::duration kSpinInRegion =
    std::chrono::microseconds(500);                                       // after a job, while a Program runs
constexpr Clock::duration kSpinForTeam = std::chrono::microseconds(500);  // a member waiting for the others

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `ready()`, as long as `budget()` allows from `begin` on. Returns whether it came.
template <class Ready, class Budget>
bool spin_until(Ready ready, Budget budget, Clock::time_point begin = Clock::now()) noexcept {
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      relax();
    }
  } while (Clock::now() - begin < budget());
  return ready();
}

constexpr int kWorkersPerWord = 64;
constexpr int kWokenByOne =
    4;  // sleepers that each member wakes; a long row of system calls would delay its own part

// Words that are waited for are changed in sequentially consistent order: who wakes must not look for
// sleepers before the change is seen.
struct Pool {
  // Counts the jobs, with the threads of the present one in the upper 16 bits. What workers wait for.
  std::atomic<uint64_t> job{0};
  // The present job: written by the owner of `busy`, read by who has claimed a member of it.
  team::Member member = nullptr;
  void* context = nullptr;
  int size = 1;
  int cpu = -1;  // where the owner runs

  alignas(
      64) std::array<std::atomic<uint64_t>, kMaxThreads / kWorkersPerWord> unclaimed{};  // a bit per member
  std::atomic<uint32_t> left{0};  // members that have not finished
  alignas(64) std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> phase{0};
  alignas(64) std::atomic<uint32_t> busy{0};  // 1: someone's team is running
  alignas(64) std::atomic<int> started{0};    // workers there are
  std::atomic<int> regions{0};                // open ones; workers that spin look at it

  struct alignas(64) Worker {
    std::atomic<uint32_t> asleep{0};
  };
  std::array<Worker, kMaxThreads> workers;  // workers[i] is member i; [0] stays unused
};

int threads_of(uint64_t job) noexcept { return static_cast<int>(job >> 48); }

ForkMutex& starting() noexcept {
  static ForkMutex mutex(LockOrder::workers);
  return mutex;
}

// Never destroyed: workers may still look at it while the process exits. A forked child replaces it, as
// the threads of the old one do not exist there.
std::atomic<Pool*> the_pool{nullptr};
void renew_pool() noexcept { the_pool.store(new Pool, std::memory_order_release); }

Pool& pool() {
  Pool* p = the_pool.load(std::memory_order_acquire);
  if (p) [[likely]]
    return *p;
  const std::lock_guard lock(starting());
  if (!(p = the_pool.load(std::memory_order_acquire))) {
    on_fork_in_child(renew_pool);
    renew_pool();
  }
  return *the_pool.load(std::memory_order_acquire);
}

struct ThreadState {
  team::Place place;
  int depth = 0;        // of begin() without end() on this thread
  bool worker = false;  // then a team is always open
  bool alone = false;   // the members of this thread's team run on it, one after the other
  team::Kind kind = team::Kind::whole;
  team::Member member = nullptr;
  void* context = nullptr;
};
thread_local ThreadState self;

// More threads at work than cores: who spins takes the core from the one that is waited for.
bool crowded(const Pool& p) noexcept {
  return threads_of(p.job.load(std::memory_order_relaxed)) > hardware_threads();
}

Clock::duration spin_after_job(const Pool& p) noexcept {
  if (crowded(p)) return Clock::duration::zero();
  return p.regions.load(std::memory_order_relaxed) > 0 ? kSpinInRegion : kSpin;
}
Clock::duration spin_for_team(const Pool& p) noexcept {
  return crowded(p) ? Clock::duration::zero() : kSpinForTeam;
}

// Spins, then sleeps, until `word` is no longer `old`.
void wait_change(const Pool& p, const std::atomic<uint32_t>& word, uint32_t old) noexcept {
  const auto changed = [&] { return word.load(std::memory_order_acquire) != old; };
  if (!spin_until(changed, [&] { return spin_for_team(p); })) word.wait(old, std::memory_order_acquire);
}

// Members are woken in a tree: `index` wakes those below it, who wake theirs.
void wake_below(Pool& p, int index, int threads) noexcept {
  const int first = index * kWokenByOne + 1, last = std::min(first + kWokenByOne, threads);
  for (int i = first; i < last; ++i) {
    std::atomic<uint32_t>& asleep = p.workers[static_cast<size_t>(i)].asleep;
    if (asleep.load() != 0 && asleep.exchange(0) != 0) asleep.notify_one();
  }
}

// Whether member `index` of the present job is the caller's to run. Whoever gets true sees the job whole and
// holds it open until finish(). A late worker may so find itself in a later job than the one it saw: it is as
// good a job.
bool claim(Pool& p, int index) noexcept {
  std::atomic<uint64_t>& word = p.unclaimed[static_cast<size_t>(index / kWorkersPerWord)];
  const uint64_t bit = uint64_t{1} << (index % kWorkersPerWord);
  return (word.load(std::memory_order_relaxed) & bit) != 0 &&
         (word.fetch_and(~bit, std::memory_order_acq_rel) & bit) != 0;
}

void finish(Pool& p, uint32_t members) noexcept {
  if (p.left.fetch_sub(members) == members) p.left.notify_one();
}

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

std::atomic<WorkRecorder> work_recorder{nullptr};

void work(Pool& p, int index) noexcept {
  if (!claim(p, index)) return;
  self.place = {index, p.size};
  if (p.cpu >= 0 && sched_getcpu() == p.cpu) leave_cpu(p.cpu);
  const WorkRecorder recorder = work_recorder.load(std::memory_order_relaxed);
  if (recorder) [[unlikely]] {
    const auto begin = Clock::now();
    p.member(p.context, index);
    recorder(index, begin, Clock::now());
  } else {
    p.member(p.context, index);
  }
  finish(p, 1);
}

// Waits for a job other than `seen`, spinning from `idle_since` on.
uint64_t wait_for_job(Pool& p, int index, uint64_t seen, Clock::time_point idle_since) noexcept {
  const auto changed = [&] { return p.job.load(std::memory_order_acquire) != seen; };
  std::atomic<uint32_t>& asleep = p.workers[static_cast<size_t>(index)].asleep;
  while (!spin_until(
      changed, [&] { return spin_after_job(p); }, idle_since)) {
    asleep.store(1);
    if (p.job.load() == seen) asleep.wait(1);
    asleep.store(0);
  }
  return p.job.load(std::memory_order_acquire);
}

void worker_main(Pool& p, int index) noexcept {
  const FlushDenormals for_good;  // as the callers of our kernels do: results do not depend on who computes
  self.worker = true;
  auto idle_since = Clock::now();
  for (uint64_t seen = 0;;) {
    seen = wait_for_job(p, index, seen, idle_since);
    if (index >= threads_of(seen)) continue;
    wake_below(p, index, threads_of(seen));
    work(p, index);
    idle_since = Clock::now();
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
    resident::add_thread();
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
  const std::lock_guard lock(starting());
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

// The pool is taken. Members from `threads` on have no thread and stay unclaimed until end().
void launch(Pool& p, int size, int threads, team::Member member, void* context) noexcept {
  p.member = member;
  p.context = context;
  p.size = size;
  p.cpu = sched_getcpu();
  p.arrived.store(0, std::memory_order_relaxed);
  p.left.store(static_cast<uint32_t>(size - 1), std::memory_order_relaxed);
  for (int first = 0; first < size; first += kWorkersPerWord) {
    const int count = std::min(size - first, kWorkersPerWord);
    const uint64_t members = ~uint64_t{0} >> (kWorkersPerWord - count);
    p.unclaimed[static_cast<size_t>(first / kWorkersPerWord)].store(
        first == 0 ? members & ~uint64_t{1} : members, std::memory_order_release);
  }
  const uint64_t count = (p.job.load(std::memory_order_relaxed) + 1) & ((uint64_t{1} << 48) - 1);
  p.job.store(static_cast<uint64_t>(threads) << 48 | count);
  wake_below(p, 0, threads);
}

// What workers have not begun is the caller's: to run, or to leave out.
void take_the_rest(Pool& p, int size, team::Kind kind) noexcept {
  for (int first = 0; first < size; first += kWorkersPerWord) {
    std::atomic<uint64_t>& word = p.unclaimed[static_cast<size_t>(first / kWorkersPerWord)];
    if (kind == team::Kind::help) {
      const uint64_t rest = word.exchange(0, std::memory_order_acq_rel);
      if (rest != 0) finish(p, static_cast<uint32_t>(std::popcount(rest)));
      continue;
    }
    while (const uint64_t rest = word.load(std::memory_order_relaxed)) {
      const int index = first + std::countr_zero(rest);
      if (!claim(p, index)) continue;
      self.place.index = index;
      p.member(p.context, index);
      finish(p, 1);
    }
  }
}

void run_alone() noexcept {
  for (int i = 1; i < self.place.size; ++i) {
    self.place.index = i;
    self.member(self.context, i);
  }
}

}  // namespace

void set_work_recorder(WorkRecorder recorder) noexcept {
  work_recorder.store(recorder, std::memory_order_relaxed);
}

int available_threads(int wanted) { return wanted <= 1 ? 1 : ensure(pool(), wanted); }

ParallelRegion::ParallelRegion() noexcept : open_(&pool().regions) {
  open_->fetch_add(1, std::memory_order_relaxed);
}
ParallelRegion::~ParallelRegion() { open_->fetch_sub(1, std::memory_order_relaxed); }

namespace team {

Place place() noexcept { return self.depth > (self.worker ? 0 : 1) ? Place{} : self.place; }
bool inside() noexcept { return place().size > 1; }

void begin(Kind kind, int size, Member member, void* context) noexcept {
  if (self.depth++ > 0 || self.worker || size <= 1) return;
  Pool& p = pool();
  const int threads = ensure(p, size);
  self.kind = kind;
  self.alone = false;
  if (kind == Kind::whole) {
    if (threads == 1) return;
    while (!try_take(p)) wait_change(p, p.busy, 1);
  } else if (threads == 1 || size > kMaxThreads || !try_take(p)) {
    if (kind == Kind::help) return;
    self.alone = true;
    self.member = member;
    self.context = context;
    self.place = {0, size};
    return;
  }
  self.place = {0, kind == Kind::each ? size : threads};
  launch(p, self.place.size, threads, member, context);
}

void end() noexcept {
  if (--self.depth > 0 || self.worker || self.place.size == 1) return;
  ++self.depth;  // members that run here are inside
  if (self.alone) {
    run_alone();
  } else {
    Pool& p = pool();
    if (self.kind != Kind::whole) take_the_rest(p, self.place.size, self.kind);
    while (const uint32_t left = p.left.load(std::memory_order_acquire)) wait_change(p, p.left, left);
    p.busy.store(0);
    p.busy.notify_one();
  }
  --self.depth;
  self.place = {};
}

void barrier() noexcept {
  if (!inside() || self.alone) return;
  Pool& p = pool();
  const uint32_t phase = p.phase.load(std::memory_order_acquire);
  if (p.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<uint32_t>(p.size)) {
    p.arrived.store(0, std::memory_order_relaxed);
    p.phase.fetch_add(1);
    p.phase.notify_all();
  } else {
    wait_change(p, p.phase, phase);
  }
}

}  // namespace team
}  // namespace plimsoll

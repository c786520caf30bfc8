// The part of GCC's OpenMP run-time that oneDNN calls, over our thread pool: one pool for its kernels
// and ours, and how long idle threads spin is ours to decide (docs/decisions/0001-one-thread-pool.md).
// Semantics are those of libgomp with dynamic adjustment off and one active level: a team has exactly
// the size asked for, a nested one has 1. The names are found before libgomp's because the executable,
// or the shared object that depends on oneDNN, comes before its dependencies in the lookup order.
#include "device/cpu/gomp_shim.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <dlfcn.h>

#include "device/cpu/thread_pool.h"

namespace plimsoll {
namespace {

thread_local int max_threads = 0;  // 0: all

// The loop a thread is in, for `schedule(static)` loops that are not split at compile time.
struct StaticLoop {
  long start = 0, end = 0, step = 1, chunk = 0;
  long trip = 0;  // -1: no more
};
thread_local StaticLoop loop;

long iterations(const StaticLoop& l) { return (l.end - l.start + l.step - (l.step > 0 ? 1 : -1)) / l.step; }

// The next iterations [first, last) of this member, counted from 0; false if it has none left.
bool next_share(long& first, long& last) {
  const team::Place me = team::place();
  const long n = iterations(loop);
  if (loop.chunk == 0) {
    if (loop.trip > 0) return false;
    long share = n / me.size, rest = n % me.size;
    if (me.index < rest) {
      rest = 0;
      ++share;
    }
    first = share * me.index + rest;
    last = first + share;
  } else {
    first = (loop.trip * me.size + me.index) * loop.chunk;
    last = first + loop.chunk < n ? first + loop.chunk : n;
  }
  return first < last;
}

using Region = void (*)(void*);
struct Task {
  Region region;
  void* data;
};
// GOMP_parallel_start returns before the region has run, so the task outlives the call.
thread_local Task task;

void run_member(void* t, int) {
  const Task copy = *static_cast<Task*>(t);
  copy.region(copy.data);
}

}  // namespace

ScopedThreads::ScopedThreads(int threads) noexcept : before_(max_threads) { max_threads = threads; }
ScopedThreads::~ScopedThreads() { max_threads = before_; }

}  // namespace plimsoll

#define PLIMSOLL_EXPORT extern "C" __attribute__((visibility("default")))

PLIMSOLL_EXPORT int omp_get_max_threads() {
  return plimsoll::max_threads > 0 ? plimsoll::max_threads : plimsoll::hardware_threads();
}
PLIMSOLL_EXPORT int omp_get_num_threads() { return plimsoll::team::place().size; }
PLIMSOLL_EXPORT int omp_get_thread_num() { return plimsoll::team::place().index; }
PLIMSOLL_EXPORT int omp_in_parallel() { return plimsoll::team::inside() ? 1 : 0; }

PLIMSOLL_EXPORT void GOMP_parallel_start(plimsoll::Region region, void* data, unsigned threads) {
  // A nested region runs on this thread alone and must leave the outer one's task as it is.
  if (!plimsoll::team::inside()) plimsoll::task = {region, data};
  const int size = threads > 0 ? static_cast<int>(threads) : omp_get_max_threads();
  plimsoll::team::begin(size, plimsoll::run_member, &plimsoll::task);
}
PLIMSOLL_EXPORT void GOMP_parallel_end() { plimsoll::team::end(); }
PLIMSOLL_EXPORT void GOMP_parallel(plimsoll::Region region, void* data, unsigned threads, unsigned) {
  GOMP_parallel_start(region, data, threads);
  region(data);
  GOMP_parallel_end();
}
PLIMSOLL_EXPORT void GOMP_barrier() { plimsoll::team::barrier(); }

PLIMSOLL_EXPORT bool GOMP_loop_static_next(long* first, long* last) {
  plimsoll::StaticLoop& l = plimsoll::loop;
  if (l.trip < 0) return false;
  long a = 0, b = 0;
  if (!plimsoll::next_share(a, b)) return false;
  l.trip = b == plimsoll::iterations(l) ? -1 : l.trip + 1;
  *first = l.start + a * l.step;
  *last = l.start + b * l.step;
  return true;
}
PLIMSOLL_EXPORT bool GOMP_loop_static_start(long start, long end, long step, long chunk, long* first,
                                            long* last) {
  const bool empty = step > 0 ? start > end : start < end;
  plimsoll::loop = {start, empty ? start : end, step, chunk, 0};
  return GOMP_loop_static_next(first, last);
}
PLIMSOLL_EXPORT void GOMP_loop_end_nowait() {}

namespace plimsoll {

bool onednn_uses_our_pool() {
  // What oneDNN finds is what its own lookup scope gives: the global scope first, then ours.
  void* const found = dlsym(RTLD_DEFAULT, "GOMP_parallel_start");
  return found == nullptr || found == reinterpret_cast<void*>(&GOMP_parallel_start);
}

}  // namespace plimsoll

#else

namespace plimsoll {

ScopedThreads::ScopedThreads(int) noexcept : before_(0) {}
ScopedThreads::~ScopedThreads() = default;
bool onednn_uses_our_pool() { return false; }

}  // namespace plimsoll

#endif

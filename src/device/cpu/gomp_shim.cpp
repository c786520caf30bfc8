// The OpenMP functions that our oneDNN calls, over our thread pool: one pool for its kernels and ours, and
// how long idle threads spin is ours to decide (docs/decisions/0001-one-thread-pool.md). Their names have a
// prefix, in our copy of oneDNN as here, so that no other user of OpenMP in the process ever meets them
// (docs/decisions/0015-a-private-onednn.md). As the OpenMP specification has it with dynamic adjustment off
// and one active level: a team has the size asked for, a nested one has 1.
#include "device/cpu/gomp_shim.h"

#if PLIMSOLL_HAVE_ONEDNN

#include <algorithm>

#include "device/cpu/onednn.h"

namespace plimsoll {
namespace {

thread_local int max_threads = 1;
thread_local team::Kind team_kind = team::Kind::whole;

using Region = void (*)(void*);
struct Task {
  Region region;
  void* data;
};
// The region runs on after GOMP_parallel_start has returned, so the task outlives the call.
thread_local Task task;

void run_member(void* t, int) {
  const Task copy = *static_cast<Task*>(t);
  copy.region(copy.data);
}

// Iterations of `for (i = start; i before end; i += step)`.
long iterations(long start, long end, long step) {
  if (step > 0) return start < end ? (end - start - 1) / step + 1 : 0;
  return start > end ? (start - end - 1) / -step + 1 : 0;
}

}  // namespace

ScopedThreads::ScopedThreads(int threads, team::Kind kind) noexcept
    : threads_before_(max_threads), kind_before_(team_kind) {
  max_threads = threads;
  team_kind = kind;
}
ScopedThreads::~ScopedThreads() {
  max_threads = threads_before_;
  team_kind = kind_before_;
}

bool onednn_uses_our_pool() { return dnnl_version()->cpu_runtime == DNNL_RUNTIME_OMP; }

}  // namespace plimsoll

#define PLIMSOLL_SHIM extern "C" __attribute__((visibility("default")))

PLIMSOLL_SHIM int plimsoll_omp_get_max_threads() { return plimsoll::max_threads; }
PLIMSOLL_SHIM int plimsoll_omp_get_num_threads() { return plimsoll::team::place().size; }
PLIMSOLL_SHIM int plimsoll_omp_get_thread_num() { return plimsoll::team::place().index; }
PLIMSOLL_SHIM int plimsoll_omp_in_parallel() { return plimsoll::team::inside() ? 1 : 0; }

PLIMSOLL_SHIM void plimsoll_GOMP_parallel_start(plimsoll::Region region, void* data, unsigned threads) {
  // A nested region runs on this thread alone and must leave the outer one's task as it is.
  if (!plimsoll::team::inside()) plimsoll::task = {region, data};
  const int size = threads > 0 ? static_cast<int>(threads) : plimsoll::max_threads;
  plimsoll::team::begin(plimsoll::team_kind, size, plimsoll::run_member, &plimsoll::task);
}
PLIMSOLL_SHIM void plimsoll_GOMP_parallel_end() { plimsoll::team::end(); }
PLIMSOLL_SHIM void plimsoll_GOMP_parallel(plimsoll::Region region, void* data, unsigned threads, unsigned) {
  plimsoll_GOMP_parallel_start(region, data, threads);
  region(data);
  plimsoll_GOMP_parallel_end();
}
PLIMSOLL_SHIM void plimsoll_GOMP_barrier() { plimsoll::team::barrier(); }

// schedule(static): a member gets its iterations in one piece, whatever chunk was asked for.
PLIMSOLL_SHIM bool plimsoll_GOMP_loop_static_start(long start, long end, long step, long, long* first,
                                                   long* last) {
  const plimsoll::team::Place me = plimsoll::team::place();
  const long count = plimsoll::iterations(start, end, step);
  const long share = count / me.size, longer = count % me.size;  // the first members have one more
  const long before = share * me.index + std::min<long>(me.index, longer);
  const long mine = share + (me.index < longer ? 1 : 0);
  *first = start + before * step;
  *last = start + (before + mine) * step;
  return mine > 0;
}
PLIMSOLL_SHIM bool plimsoll_GOMP_loop_static_next(long*, long*) { return false; }
PLIMSOLL_SHIM void plimsoll_GOMP_loop_end_nowait() {}

#else

namespace plimsoll {

ScopedThreads::ScopedThreads(int threads, team::Kind kind) noexcept
    : threads_before_(threads), kind_before_(kind) {}
ScopedThreads::~ScopedThreads() = default;
bool onednn_uses_our_pool() { return false; }

}  // namespace plimsoll

#endif

// The one pool of worker threads of the process: our kernels run on it through parallel_for(), oneDNN's
// through gomp_shim.cpp. The calling thread always takes part as member 0. Workers spin for some tens of
// microseconds after a job (longer inside a ParallelRegion) and then sleep; they start when first needed,
// block all signals, and live until the process ends. A forked child starts with a fresh pool. Everything
// here may be used from any thread: when two threads want the pool at once, the second one's parallel_for()
// runs alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace plimsoll {

inline constexpr int kMaxThreads = 256;

// Threads this process may use at once: its affinity mask, cut to the CPU quota of its cgroup. Read once.
int hardware_threads();

// Starts workers until `wanted` threads, the caller included, can run at once. Returns how many can: fewer
// if the system refuses more, never less than 1.
int available_threads(int wanted);

// Keeps idle workers spinning between kernels (for at most some 500 microseconds without a job), so that
// the next one starts at once. Opened around the run of a Program that uses more than one thread.
class ParallelRegion {
 public:
  ParallelRegion() noexcept;
  ~ParallelRegion();
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;
};

namespace team {

// What the present thread is inside of: member `index` of `size`; {0, 1} outside any team and in nested ones.
struct Place {
  int index = 0;
  int size = 1;
};
Place place() noexcept;
bool inside() noexcept;  // in a team of more than one

using Member = void (*)(void* context, int index);

// Runs member(context, i) on a team: i = 1 .. size-1 on workers, while the caller goes on and must do
// index 0 itself before it calls end(). Nested calls get a team of 1.
// try_begin: size may come out smaller, and is 1 if the pool is busy. begin: exactly `size` threads that run
// at the same time (they may use barrier()), waiting until the pool is free.
int try_begin(int size, Member member, void* context) noexcept;
void begin(int size, Member member, void* context) noexcept;
void end() noexcept;
// Waits until every member of the team is here.
void barrier() noexcept;

}  // namespace team

// Calls body(chunk, thread) once for every chunk in [0, chunks), on at most `threads` threads, and returns
// when all are done. 0 <= thread < threads tells scratch apart. Each thread begins with a part of its own,
// the same for the same number of chunks, so that from kernel to kernel it meets the rows it has in its
// caches; then it helps the others. Who gets which chunk is left to chance in the end, so results must not
// depend on it. Nested calls, one chunk or one thread run here without waking anybody. The body must not
// throw.
template <class F>
void parallel_for(int64_t chunks, int threads, F&& body) {
  static_assert(std::is_nothrow_invocable_v<F&, int64_t, int>, "the body of parallel_for is noexcept");
  const int64_t most = chunks < threads ? chunks : threads;
  if (most <= 1 || team::inside()) {
    for (int64_t c = 0; c < chunks; ++c) body(c, 0);
    return;
  }
  constexpr int64_t kMostParts = 32;  // more threads share them
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  struct Context {
    std::remove_reference_t<F>* body;
    int64_t parts;
    Part part[kMostParts];
  } context{&body, most < kMostParts ? most : kMostParts, {}};
  for (int64_t i = 0, first = 0; i < context.parts; ++i) {
    context.part[i].next.store(first, std::memory_order_relaxed);
    first += chunks / context.parts + (i < chunks % context.parts);
    context.part[i].end = first;
  }
  auto member = [](void* p, int index) {
    Context& c = *static_cast<Context*>(p);
    for (int64_t i = 0; i < c.parts; ++i) {
      Part& part = c.part[(index + i) % c.parts];
      for (;;) {
        const int64_t chunk = part.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= part.end) break;
        (*c.body)(chunk, index);
      }
    }
  };
  team::try_begin(static_cast<int>(most), member, &context);
  member(&context, 0);
  team::end();
}

}  // namespace plimsoll

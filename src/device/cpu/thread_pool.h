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
// if the system refuses more or `wanted` is above kMaxThreads, never less than 1.
int available_threads(int wanted);

// Keeps idle workers spinning between kernels (for at most some 500 microseconds without a job), so that
// the next one starts at once. Opened around the run of a Program that uses more than one thread.
class ParallelRegion {
 public:
  ParallelRegion() noexcept;
  ~ParallelRegion();
  ParallelRegion(const ParallelRegion&) = delete;
  ParallelRegion& operator=(const ParallelRegion&) = delete;

 private:
  std::atomic<int>* open_;
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

enum class Kind {
  whole,  // all members run at the same time and may use barrier(); waits until the pool is free
  each,   // every member runs once, whoever has time for it: what no worker has begun the caller does
  help,   // members are alike, and one that has not begun when the caller is done is left out
};

// Runs member(context, i) on a team: i = 1 .. size-1 on workers, while the caller goes on and must do
// index 0 itself before it calls end(). Nested calls get a team of 1. Never waits for a thread that the
// system refuses: then a whole team is smaller, as place() tells, and others have fewer threads at work.
void begin(Kind kind, int size, Member member, void* context) noexcept;
void end() noexcept;
// Waits until every member of the (whole) team is here.
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
  constexpr int64_t kMostParts = 64;  // more threads share them
  struct alignas(64) Part {
    std::atomic<int64_t> next;
    int64_t end;
  };
  struct Context {
    std::remove_reference_t<F>* body;
    int64_t parts;
    Part part[kMostParts];
  };
  Context context;
  context.body = &body;
  context.parts = most < kMostParts ? most : kMostParts;
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
        // Looked at before it is counted: a part that is done is left in the caches of all.
        if (part.next.load(std::memory_order_relaxed) >= part.end) break;
        const int64_t chunk = part.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= part.end) break;
        (*c.body)(chunk, index);
      }
    }
  };
  team::begin(team::Kind::help, static_cast<int>(most), member, &context);
  member(&context, 0);
  team::end();
}

}  // namespace plimsoll

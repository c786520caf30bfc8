// What the programs that time single kernels share: a clock, the best of several runs, and memory to run on.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace plimsoll::bench {

// One thread is timed by its own clock, so that a busy machine does not matter.
inline double now(int threads) {
  timespec t;
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class F>
double best_seconds(int threads, const F& run) {
  run();
  double best = 1e30;
  const double start = now(threads);
  for (int i = 0; i < 5 || (i < 100 && now(threads) - start < 0.1); ++i) {
    const double before = now(threads);
    run();
    best = std::min(best, now(threads) - before);
  }
  return best;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float, Free>;

inline Floats floats(int64_t count) {
  const auto bytes = static_cast<size_t>(std::max<int64_t>(64, (count * 4 + 63) / 64 * 64));
  Floats f(static_cast<float*>(std::aligned_alloc(64, bytes)));
  std::fill_n(f.get(), bytes / 4, 0.5f);
  return f;
}

}  // namespace plimsoll::bench

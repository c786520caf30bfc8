// What a program with OpenMP of its own expects of it. Compiled into several programs and libraries here.
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdio>
#include <set>
#include <thread>
#include <vector>

// Whether the constructs below do what they should on a team of `size` real threads.
inline bool team_is_whole(int size, const char* when) {
  std::vector<std::thread::id> ids(static_cast<size_t>(size));
  std::vector<std::atomic<int>> seen(1000);
  std::atomic<int> arrived{0}, early{0}, singles{0}, told{0};
  int in_critical = 0;
#pragma omp parallel num_threads(size)
  {
    told.fetch_add(omp_get_num_threads());
    ids[static_cast<size_t>(omp_get_thread_num())] = std::this_thread::get_id();
    arrived.fetch_add(1);
#pragma omp barrier
    if (arrived.load() != size) early.fetch_add(1);
#pragma omp for schedule(static, 7)
    for (int i = 0; i < 500; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
#pragma omp for schedule(dynamic, 3)
    for (int i = 500; i < 1000; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
#pragma omp single
    singles.fetch_add(1);
#pragma omp critical
    ++in_critical;
  }
  const std::set<std::thread::id> different(ids.begin(), ids.end());
  bool once = true;
  for (const std::atomic<int>& s : seen) once &= s.load() == 1;
  const bool ok = told == size * size && static_cast<int>(different.size()) == size && early == 0 && once &&
                  singles == 1 && in_critical == size;
  if (!ok) {
    std::printf(
        "%s: asked for %d threads, were told of %d in all, ran on %zu; early %d, single %d, critical %d\n",
        when, size, told.load(), different.size(), early.load(), singles.load(), in_critical);
  }
  return ok;
}

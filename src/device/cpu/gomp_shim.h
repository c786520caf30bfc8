// How many threads oneDNN takes. Its OpenMP calls are answered by gomp_shim.cpp over our own pool; the number
// that it is told is set here, per thread, so that a primitive is made and run with the same. Elsewhere it
// is 1.
#pragma once

#include "device/cpu/thread_pool.h"

namespace plimsoll {

class ScopedThreads {
 public:
  // Requires: threads was returned by available_threads(). Kind::each only for a primitive whose threads
  // never wait for each other.
  explicit ScopedThreads(int threads, team::Kind kind = team::Kind::whole) noexcept;
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  [[maybe_unused]] int threads_before_;  // without oneDNN
  [[maybe_unused]] team::Kind kind_before_;
};

// Whether oneDNN runs on the pool: not so if it was built for another run-time than OpenMP.
bool onednn_uses_our_pool();

}  // namespace plimsoll

// How many threads oneDNN takes. Its OpenMP calls are answered by gomp_shim.cpp over our own pool; the number
// that omp_get_max_threads() returns is set here, per thread, so that a primitive is made and run with the
// same.
#pragma once

namespace plimsoll {

class ScopedThreads {
 public:
  // Requires: threads was returned by available_threads().
  explicit ScopedThreads(int threads) noexcept;
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int before_;
};

// Whether oneDNN's calls reach the shim: not so if a libgomp was loaded globally before us.
bool onednn_uses_our_pool();

}  // namespace plimsoll

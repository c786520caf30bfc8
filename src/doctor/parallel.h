// parallel_for spreads independent work over the processor's threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace plimsoll::doctor {

// Calls f(0) ... f(n - 1), in any order, on several threads. The first exception is thrown on.
template <class F>
void parallel_for(size_t n, const F& f) {
  std::atomic<size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (size_t i = next++; i < n; i = next++) f(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = n;
    }
  };
  const size_t count = std::min<size_t>({n, std::max(1u, std::thread::hardware_concurrency()), 8});
  {
    std::vector<std::jthread> threads;
    try {
      for (size_t i = 1; i < count; ++i) threads.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads to be had (ulimit): this one does the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace plimsoll::doctor

// For tests: prepares a kernel, gives it aligned arguments and poisoned scratch, runs it, hands back its
// outputs.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "device/kernel.h"
#include "plimsoll/shape.h"

namespace plimsoll::testing_kernels {

using PrepareFn = Kernel (*)(const KernelQuery& q);
using Bytes = std::vector<std::byte>;

template <class T>
Bytes to_bytes(const std::vector<T>& v) {
  Bytes b(v.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), v.data(), b.size());
  return b;
}
template <class T>
std::vector<T> from_bytes(const Bytes& b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!b.empty()) std::memcpy(v.data(), b.data(), b.size());
  return v;
}

// Throws what prepare and run throw. Outputs and scratch are full of 0xFF (NaNs) before the run, and 64 bytes
// behind each must still be so after it.
inline std::vector<Bytes> call_kernel(PrepareFn prepare, const std::vector<TensorType>& in,
                                      const std::vector<TensorType>& out, const Attrs& attrs,
                                      const std::vector<Bytes>& inputs, int threads) {
  const Kernel kernel = prepare(KernelQuery{in, out, attrs, threads});
  constexpr size_t kGuard = 64;
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::vector<std::unique_ptr<void, Free>> held;
  std::vector<void*> args;
  const auto add = [&](size_t bytes) {
    const size_t padded = (bytes + kGuard + 63) / 64 * 64;
    held.emplace_back(std::aligned_alloc(64, padded));
    std::memset(held.back().get(), 0xFF, padded);
    args.push_back(held.back().get());
    return held.back().get();
  };
  for (const Bytes& b : inputs) {
    void* const to = add(b.size());
    if (!b.empty()) std::memcpy(to, b.data(), b.size());
  }
  std::vector<size_t> sizes;
  for (const TensorType& t : out) {
    sizes.push_back(static_cast<size_t>(byte_size(t.dtype, t.shape)));
    add(sizes.back());
  }
  sizes.push_back(static_cast<size_t>(kernel.scratch));
  add(sizes.back());
  kernel.run(kernel.state.get(), args.data());
  std::vector<Bytes> results;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto* from = static_cast<const std::byte*>(args[inputs.size() + i]);
    for (size_t k = 0; k < kGuard; ++k) {
      if (from[sizes[i] + k] != std::byte{0xFF}) throw std::runtime_error("a kernel wrote past its end");
    }
    if (i < out.size()) results.emplace_back(from, from + sizes[i]);
  }
  return results;
}

}  // namespace plimsoll::testing_kernels

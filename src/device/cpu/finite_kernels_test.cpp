#include "device/cpu/finite_kernels.h"

#include <algorithm>
#include <limits>

#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

// Every place in lengths around those of vectors, blocks and chunks of threads.
template <class T>
void find_each(DType dtype, T good, const std::vector<T>& bad) {
  for (const size_t n : {0, 1, 2, 15, 16, 17, 63, 64, 127, 128, 129, 300, 16384, 40001}) {
    std::vector<T> x(n, good);
    EXPECT_TRUE(all_finite(dtype, x.data(), static_cast<int64_t>(n), 2)) << n;
    for (size_t i = 0; i < n; i += std::max<size_t>(1, n / 97)) {
      for (const T& b : bad) {
        x[i] = b;
        EXPECT_FALSE(all_finite(dtype, x.data(), static_cast<int64_t>(n), 2)) << n << " at " << i;
      }
      x[i] = good;
    }
  }
}

template <class T>
void find_each_of(DType dtype) {
  using L = std::numeric_limits<T>;
  const std::vector<T> bad = {L::infinity(), -L::infinity(), L::quiet_NaN(), -L::quiet_NaN()};
  for (const T good : {T(0), T(-1.5), L::max(), L::lowest(), L::denorm_min()}) find_each(dtype, good, bad);
}

TEST(AllFinite, FindsOneBadNumberAnywhere) {
  for_each_target([] {
    find_each_of<float>(DType::f32);
    find_each_of<double>(DType::f64);
    for (const uint16_t good : {0x0000, 0x8001, 0x7BFF, 0xFBFF})
      find_each<uint16_t>(DType::f16, good, {0x7C00, 0xFC00, 0x7C01, 0xFFFF});
    for (const uint16_t good : {0x0000, 0x8001, 0x7F7F, 0xFF7F})
      find_each<uint16_t>(DType::bf16, good, {0x7F80, 0xFF80, 0x7F81, 0xFFFF});
  });
}

}  // namespace
}  // namespace plimsoll

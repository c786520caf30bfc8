#include "device/cpu/half_rows.h"

#include <bit>
#include <limits>

#include "common/half.h"
#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

// Every half there is.
std::vector<uint16_t> all_halves() {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  return all;
}

TEST(HalfRows, WidenEveryHalfToItsValue) {
  const std::vector<uint16_t> all = all_halves();
  for_each_target([&] {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      std::vector<float> wide(all.size());
      widen_row(dtype, all.data(), static_cast<int64_t>(all.size()), wide.data());
      for (size_t i = 0; i < all.size(); ++i) {
        const float expected = dtype == DType::bf16 ? bf16_to_float(all[i]) : f16_to_float(all[i]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(wide[i])) << i;
        } else {
          ASSERT_EQ(wide[i], expected) << i;
        }
      }
    }
  });
}

// What lies between two neighbours rounds to the nearer one, and from the middle to the even one.
TEST(HalfRows, RoundToNearestEven) {
  for_each_target([&] {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      const auto value = [&](uint32_t bits) {
        const auto half = static_cast<uint16_t>(bits);
        return dtype == DType::bf16 ? bf16_to_float(half) : f16_to_float(half);
      };
      const uint32_t largest = dtype == DType::bf16 ? 0x7F7F : 0x7BFF, step = 37;
      std::vector<float> x;
      std::vector<uint16_t> expected;
      // From the smallest normal number on: runs flush what is smaller in float32.
      for (uint32_t bits = dtype == DType::bf16 ? 0x80 : 1; bits < largest; bits += step) {
        const double low = value(bits), high = value(bits + 1), middle = (low + high) / 2;
        const double tick = (high - low) / 64;
        for (const uint32_t sign : {0u, 0x8000u}) {
          const double s = sign == 0 ? 1 : -1;
          for (const double v : {low, middle - tick, middle + tick, middle})
            x.push_back(static_cast<float>(s * v));
          const uint32_t even = bits % 2 == 0 ? bits : bits + 1;
          for (const uint32_t b : {bits, bits, bits + 1, even})
            expected.push_back(static_cast<uint16_t>(b | sign));
        }
      }
      x.push_back(std::numeric_limits<float>::infinity());
      expected.push_back(dtype == DType::bf16 ? 0x7F80 : 0x7C00);
      std::vector<uint16_t> got(x.size());
      narrow_row(x.data(), static_cast<int64_t>(x.size()), dtype, got.data());
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(got[i], expected[i]) << (dtype == DType::bf16 ? "bfloat16 of " : "float16 of ") << x[i];
    }
  });
}

TEST(HalfRows, NaNStaysAndNothingIsWrittenPastTheEnd) {
  for_each_target([&] {
    for (const DType dtype : {DType::bf16, DType::f16}) {
      for (size_t n = 0; n < 40; ++n) {
        const std::vector<float> x(n, std::bit_cast<float>(0x7F800001u));
        std::vector<uint16_t> got(n + 1, 0x1234);
        narrow_row(x.data(), static_cast<int64_t>(n), dtype, got.data());
        for (size_t i = 0; i < n; ++i) {
          EXPECT_TRUE(std::isnan(dtype == DType::bf16 ? bf16_to_float(got[i]) : f16_to_float(got[i])));
        }
        EXPECT_EQ(got[n], 0x1234);
      }
    }
  });
}

TEST(HalfRows, PanelsHoldTheirRowsWhateverTheStrides) {
  constexpr int64_t kRows = 23, kColumns = 71, kWidth = 6, kPanel = kWidth * kColumns;
  const std::vector<float> x = random_values<float>(kRows * kColumns, 3);
  for_each_target([&] {
    for (const bool transposed : {false, true}) {
      std::vector<uint16_t> halves(x.size());
      narrow_row(x.data(), std::ssize(x), DType::bf16, halves.data());
      std::vector<float> panels(4 * kPanel, -1);
      const int64_t row = transposed ? 1 : kColumns, col = transposed ? kRows : 1;
      pack_wide({DType::bf16, halves.data(), row, col, kRows, kColumns, kWidth, kPanel}, panels.data());
      for (int64_t i = 0; i < 4 * kWidth; ++i) {
        for (int64_t p = 0; p < kColumns; ++p) {
          const float expected =
              i < kRows ? bf16_to_float(halves[static_cast<size_t>(i * row + p * col)]) : 0.0f;
          ASSERT_EQ(panels[static_cast<size_t>(i / kWidth * kPanel + p * kWidth + i % kWidth)], expected);
        }
      }
    }
  });
}

}  // namespace
}  // namespace plimsoll

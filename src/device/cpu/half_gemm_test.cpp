#include "device/cpu/half_gemm.h"

#include <array>
#include <cmath>

#include "common/half.h"
#include "device/cpu/gemm_testing.h"
#include "device/cpu/half_rows.h"
#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

float value_of(DType dtype, const std::vector<char>& bytes, int64_t i) {
  float x;
  widen_row(dtype, bytes.data() + i * static_cast<int64_t>(size_of(dtype)), 1, &x);
  return x;
}

std::vector<char> values(DType dtype, int64_t n, uint32_t seed) {
  const std::vector<float> wide = random_values<float>(static_cast<size_t>(n), seed);
  std::vector<char> bytes(static_cast<size_t>(n) * size_of(dtype));
  narrow_row(wide.data(), n, dtype, bytes.data());
  return bytes;
}

struct Product {
  GemmProblem p;
  HalfTypes types;
  std::vector<char> a = values(types.a, p.batch*p.m*p.k, 1), b = values(types.b, p.batch*p.k*p.n, 2),
                    bias = values(types.bias, p.n, 3);

  std::vector<char> ours(int threads) const {
    GemmProblem q = p;
    q.threads = threads;
    const HalfGemm gemm(q, types);
    std::vector<char> c(static_cast<size_t>(p.batch * p.m * p.n) * size_of(types.c), 0x11);
    with_scratch(gemm, [&](void* scratch) {
      gemm.run(a.data(), b.data(), p.bias ? bias.data() : nullptr, c.data(), scratch);
    });
    return c;
  }

  // Within half a unit of the exact result's last place, and the error of sums in float32.
  void expect_exact(const std::vector<char>& c) const {
    const double unit = types.c == DType::bf16 ? 1.0 / 256 : types.c == DType::f16 ? 1.0 / 2048 : 0;
    for (int64_t z = 0; z < p.batch; ++z) {
      for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
          double sum = p.bias ? value_of(types.bias, bias, j) : 0, size = std::abs(sum);
          for (int64_t q = 0; q < p.k; ++q) {
            const double term = double(value_of(types.a, a, z * p.a_batch + i * p.a_row + q * p.a_col)) *
                                double(value_of(types.b, b, z * p.b_batch + q * p.b_row + j * p.b_col));
            sum += term;
            size += std::abs(term);
          }
          if (p.relu) sum = std::max(sum, 0.0);
          const double got = value_of(types.c, c, z * p.c_batch + i * p.c_row + j);
          ASSERT_NEAR(got, sum, unit * std::abs(sum) + 1e-6 * size) << i << ", " << j;
        }
      }
    }
  }
};

constexpr HalfTypes kBf16 = {DType::bf16, DType::bf16, DType::bf16, DType::bf16};
constexpr HalfTypes kF16 = {DType::f16, DType::f16, DType::f16, DType::f16};

TEST(HalfGemm, RoundsSumsInFloat32Once) {
  for_each_target([] {
    for (const HalfTypes& types :
         {kBf16, kF16, HalfTypes{DType::bf16, DType::f32, DType::f32, DType::bf16}}) {
      for (const bool at : {false, true}) {
        for (const bool bt : {false, true}) {
          for (const auto& [m, n, k] :
               {std::array<int64_t, 3>{1, 1, 1}, {5, 7, 3}, {13, 33, 70}, {32, 1, 40}, {1, 40, 33}}) {
            GemmProblem p = problem(m, n, k, at, bt, 2);
            p.bias = m % 2 == 1, p.relu = k % 2 == 1;
            const Product product{p, types};
            product.expect_exact(product.ours(1));
          }
        }
      }
    }
  });
}

TEST(HalfGemm, LongSumsStayInFloat32) {
  const Product product{problem(20, 40, 2600, true, false), kBf16};
  product.expect_exact(product.ours(2));
}

TEST(HalfGemm, GivesTheSameBitsForAnyThreads) {
  for (const int64_t k : {200, 1500}) {
    const Product product{problem(150, 130, k, false, false), kBf16};
    const std::vector<char> one = product.ours(1);
    for (const int threads : {2, 3, 5}) EXPECT_EQ(product.ours(threads), one) << threads;
  }
}

TEST(HalfGemm, AnEmptySumIsTheBias) {
  GemmProblem p = problem(3, 5, 0, false, false);
  p.bias = true;
  const Product product{p, kBf16};
  product.expect_exact(product.ours(1));
}

// Scratch holds blocks: it does not grow with the operands.
TEST(HalfGemm, ScratchIsSmallBesideLargeOperands) {
  for (const int64_t k : {1024, 4096}) {
    const HalfGemm gemm(problem(4096, 4096, k, false, false), kBf16);
    EXPECT_LT(gemm.scratch_bytes(), 2 << 20);
  }
}

}  // namespace
}  // namespace plimsoll

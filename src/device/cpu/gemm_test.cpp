#include "device/cpu/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device/cpu/gemm_testing.h"
#include "hwy/targets.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

template <class T>
struct GemmRun {
  GemmProblem p;
  std::vector<T> a, b, bias, c;

  explicit GemmRun(const GemmProblem& problem) : p(problem) {
    p.dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> draw(-1, 1);
    const auto fill = [&](int64_t n) {
      std::vector<T> v(static_cast<size_t>(n));
      for (T& x : v) x = static_cast<T>(draw(random));
      return v;
    };
    a = fill(p.outer * p.batch * p.m * p.k);
    b = fill(p.outer * p.batch * p.k * p.n);
    bias = fill(p.n);
    c = fill(p.outer * p.batch * p.m * p.n);
  }

  std::vector<T> ours(int threads) const {
    GemmProblem q = p;
    q.threads = threads;
    const Gemm gemm(q);
    std::vector<T> out = c;
    with_scratch(gemm, [&](void* scratch) {
      gemm.run(a.data(), b.data(), p.bias ? bias.data() : nullptr, out.data(), scratch);
    });
    return out;
  }

  std::vector<double> reference() const {
    std::vector<double> out(c.begin(), c.end());
    for (int64_t y = 0; y < p.outer; ++y)
      for (int64_t z = 0; z < p.batch; ++z)
        for (int64_t i = 0; i < p.m; ++i)
          for (int64_t j = 0; j < p.n; ++j) {
            double sum = p.bias ? bias[static_cast<size_t>(j)] : 0;
            for (int64_t q = 0; q < p.k; ++q) {
              sum +=
                  double(a[static_cast<size_t>(y * p.a_outer + z * p.a_batch + i * p.a_row + q * p.a_col)]) *
                  double(b[static_cast<size_t>(y * p.b_outer + z * p.b_batch + q * p.b_row + j * p.b_col)]);
            }
            double& o = out[static_cast<size_t>(y * p.c_outer + z * p.c_batch + i * p.c_row + j)];
            o = p.accumulate ? o + sum : sum;
            if (p.relu) o = std::max(o, 0.0);
          }
    return out;
  }
};

template <class T>
void check(const GemmProblem& p) {
  SCOPED_TRACE(concat("m ", p.m, " n ", p.n, " k ", p.k, " batch ", p.batch, " a_row ", p.a_row, " b_row ",
                      p.b_row, " bias ", p.bias, " accumulate ", p.accumulate, " ", highway_target()));
  const GemmRun<T> run(p);
  const std::vector<T> one = run.ours(1), three = run.ours(3);
  const std::vector<double> want = run.reference();
  // Each sum of k products of size at most 1 may be off by k roundings.
  const double tolerance = (double(p.k) + 4) * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16);
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(one[i], want[i], tolerance) << "element " << i;
  ASSERT_TRUE(one.empty() || std::memcmp(one.data(), three.data(), one.size() * sizeof(T)) == 0)
      << "the number of threads changes the result";
}

void check_all(bool large) {
  const std::vector<int64_t> sizes = {0, 1, 2, 5, 7, 17, 33};
  for (int64_t m : sizes)
    for (int64_t n : sizes)
      for (int64_t k : sizes)
        for (int transposes = 0; transposes < 4; ++transposes) {
          GemmProblem p = problem(m, n, k, transposes & 1, transposes & 2);
          check<float>(p);
          p.bias = p.relu = true;
          p.accumulate = (m + n + k) % 2 == 1;
          check<float>(p);
          if ((m + n + k) % 3 == 0) check<double>(p);
        }
  if (!large) return;
  const int64_t shapes[][3] = {
      {131, 97, 801}, {1, 1000, 300}, {1000, 1, 300}, {300, 513, 65}, {13, 700, 401}};
  for (const auto& s : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmProblem p = problem(s[0], s[1], s[2], transposes & 1, transposes & 2);
      p.bias = true;
      p.accumulate = transposes == 2;
      check<float>(p);
      check<double>(p);
    }
}

TEST(Gemm, MatchesDoubleReference) { check_all(true); }

TEST(Gemm, MatchesDoubleReferenceOnEveryTarget) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    check_all(false);
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Gemm, BatchesMatchDoubleReference) {
  for (int64_t batch : {2, 3, 8}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      check<float>(problem(20, 31, 44, transposes & 1, transposes & 2, batch));
      check<float>(problem(1, 31, 44, transposes & 1, transposes & 2, batch));
      check<float>(problem(120, 131, 144, transposes & 1, transposes & 2, batch));
      check<double>(problem(31, 1, 44, transposes & 1, transposes & 2, batch));
    }
  }
}

// With many threads blocks of B are shared, several at once, and rows cut smaller: the sums stay the same.
TEST(Gemm, ManyThreadsChangeNothing) {
  const int64_t shapes[][3] = {{515, 300, 1100}, {1000, 160, 500}, {96, 2000, 700}, {70, 3300, 900}};
  for (const auto& s : shapes) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      GemmProblem p = problem(s[0], s[1], s[2], transposes & 1, transposes & 2);
      p.bias = p.relu = true;
      p.accumulate = transposes == 1;
      const GemmRun<float> run(p);
      const std::vector<float> one = run.ours(1);
      for (const int threads : {2, 8, 16, 40})
        EXPECT_EQ(run.ours(threads), one) << concat(s[0], " ", threads);
    }
  }
  check<float>(problem(515, 300, 1100, false, false));
}

// Heads of an attention: (outer, time, batch, width) read in place.
TEST(Gemm, TwoLevelsOfBatchMatchDoubleReference) {
  const int64_t outer = 3, heads = 4, time = 19, width = 8;
  GemmProblem p;
  p.outer = outer, p.batch = heads, p.m = time, p.n = time, p.k = width;
  p.a_row = heads * width, p.a_col = 1, p.a_batch = width, p.a_outer = time * heads * width;
  p.b_row = 1, p.b_col = heads * width, p.b_batch = width, p.b_outer = time * heads * width;
  p.c_row = time, p.c_batch = time * time, p.c_outer = heads * time * time;
  check<float>(p);
  check<double>(p);
}

TEST(Gemm, GeneralStridesMatchDoubleReference) {
  GemmProblem p = problem(9, 11, 13, false, false);
  p.a_row = 2, p.a_col = 7;  // overlapping reads are fine
  p.b_row = 3, p.b_col = 5;
  check<float>(p);
}

TEST(Gemm, ReluKeepsNan) {
  GemmProblem p = problem(2, 20, 3, false, false);
  p.relu = true;
  const Gemm gemm(p);
  std::vector<float> a(6, NAN), b(60, 1.0f), c(40);
  gemm.run(a.data(), b.data(), nullptr, c.data(), nullptr);
  for (float x : c) EXPECT_TRUE(std::isnan(x));
}

void doubled(const void* const* in, void* out, size_t n, const double* params) {
  for (size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] * 2 + static_cast<float>(params[0]);
  }
}

TEST(Gemm, PostRunsOnceOnEveryElement) {
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{7, 9, 5}, {100, 200, 900}, {50, 1, 64}, {1, 50, 64}, {3, 4, 0}}) {
    for (bool transposed : {false, true}) {
      GemmProblem plain = problem(m, n, k, transposed, transposed), with = plain;
      with.post = doubled;
      with.post_params[0] = 1;
      const auto a = GemmRun<float>(plain).ours(2), b = GemmRun<float>(with).ours(2);
      for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(b[i], a[i] * 2 + 1);
    }
  }
}

TEST(Gemm, OtherDtypesAreUnsupported) {
  GemmProblem p = problem(2, 2, 2, false, false);
  p.dtype = DType::i32;
  EXPECT_THROW(Gemm{p}, Error);
}

}  // namespace
}  // namespace plimsoll

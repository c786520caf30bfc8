#include "device/cpu/layer_norm_kernels.h"

#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

template <class T>
struct Run {
  int64_t rows, n;
  std::vector<T> x, gamma, beta, dy, y, mean, rstd, dx, dgamma, dbeta;

  Run(int64_t rows_, int64_t n_, double shift = 0) : rows(rows_), n(n_) {
    const auto r = static_cast<size_t>(rows), c = static_cast<size_t>(n);
    x = random_values<T>(r * c, 1, -2 + shift, 2 + shift);
    gamma = random_values<T>(c, 2);
    beta = random_values<T>(c, 3);
    dy = random_values<T>(r * c, 4);
    y = dx = std::vector<T>(r * c);
    mean = rstd = std::vector<T>(r);
    dgamma = dbeta = std::vector<T>(c);
  }
  void forward(int threads) {
    layer_norm_forward(kDType<T>, rows, n, 1e-3, x.data(), gamma.data(), beta.data(), y.data(), mean.data(),
                       rstd.data(), threads);
  }
  void backward(int threads) {
    std::vector<char> scratch(static_cast<size_t>(layer_norm_scratch(kDType<T>, rows, n)));
    layer_norm_backward(
        kDType<T>, rows, n,
        {x.data(), gamma.data(), mean.data(), rstd.data(), dy.data(), dx.data(), dgamma.data(), dbeta.data()},
        scratch.data(), threads);
  }
};

struct Expected {
  std::vector<double> y, dx, dgamma, dbeta;
};
template <class T>
Expected reference(const Run<T>& a) {
  const auto rows = static_cast<size_t>(a.rows), n = static_cast<size_t>(a.n);
  Expected e{std::vector<double>(rows * n), std::vector<double>(rows * n), std::vector<double>(n),
             std::vector<double>(n)};
  const double scale = 1.0 / static_cast<double>(n);
  for (size_t r = 0; r < rows; ++r) {
    double mean = 0, variance = 0, sum_g = 0, sum_gh = 0;
    for (size_t k = 0; k < n; ++k) mean += static_cast<double>(a.x[r * n + k]) * scale;
    for (size_t k = 0; k < n; ++k)
      variance += std::pow(static_cast<double>(a.x[r * n + k]) - mean, 2) * scale;
    const double rstd = 1 / std::sqrt(variance + 1e-3);
    std::vector<double> g(n), h(n);
    for (size_t k = 0; k < n; ++k) {
      const double up = static_cast<double>(a.dy[r * n + k]);
      h[k] = (static_cast<double>(a.x[r * n + k]) - mean) * rstd;
      g[k] = up * static_cast<double>(a.gamma[k]);
      e.y[r * n + k] = h[k] * static_cast<double>(a.gamma[k]) + static_cast<double>(a.beta[k]);
      e.dgamma[k] += up * h[k];
      e.dbeta[k] += up;
      sum_g += g[k] * scale;
      sum_gh += g[k] * h[k] * scale;
    }
    for (size_t k = 0; k < n; ++k) e.dx[r * n + k] = rstd * (g[k] - sum_g - h[k] * sum_gh);
  }
  return e;
}

template <class T>
class LayerNorm : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LayerNorm, Floats);

TYPED_TEST(LayerNorm, MatchesDoubleReference) {
  for_each_target([] {
    for (const auto& [rows, n] : {std::pair{1, 1}, {3, 7}, {70, 33}, {131, 768}}) {
      Run<TypeParam> run(rows, n);
      run.forward(2);
      run.backward(2);
      const Expected e = reference(run);
      expect_close(run.y, e.y);
      // One element has no variance: rstd is 1 / sqrt(epsilon) and every term of dx cancels.
      if (n > 1) expect_close(run.dx, e.dx, 4 * kTolerance<TypeParam>);
      expect_close(run.dgamma, e.dgamma, 4 * kTolerance<TypeParam>);
      expect_close(run.dbeta, e.dbeta);
    }
  });
}

TYPED_TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  Run<TypeParam> run(4, 256, 1000);
  run.forward(1);
  expect_close(run.y, reference(run).y, 100 * kTolerance<TypeParam>);
}

TYPED_TEST(LayerNorm, DoesNotDependOnThreads) {
  Run<TypeParam> one(700, 65), two(700, 65);
  one.forward(1);
  one.backward(1);
  two.forward(2);
  two.backward(2);
  EXPECT_EQ(one.y, two.y);
  EXPECT_EQ(one.dx, two.dx);
  EXPECT_EQ(one.dgamma, two.dgamma);
  EXPECT_EQ(one.dbeta, two.dbeta);
}

TYPED_TEST(LayerNorm, NoRowsGiveZeroSums) {
  Run<TypeParam> run(0, 3);
  run.dgamma.assign(3, 9);
  run.forward(1);
  run.backward(1);
  EXPECT_EQ(run.dgamma, std::vector<TypeParam>(3, 0));
}

}  // namespace
}  // namespace plimsoll

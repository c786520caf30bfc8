#include "device/cpu/batch_norm_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "device/cpu/kernel_call_testing.h"
#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

constexpr double kEpsilon = 1e-3;
constexpr double kFloatTolerance = 1e-5;  // differences of sums, divided by a standard deviation

// Random operands of one batch normalisation, and the textbook formulas in double.
template <class T>
struct Trial {
  size_t rows, channels;
  bool relu, residual;
  std::vector<T> x, gamma, beta, added, dy;
  std::vector<double> mean, variance, y, dx, dgamma, dbeta, dadded;

  Trial(size_t r, size_t c, bool with_relu, bool with_residual, double offset = 0)
      : rows(r), channels(c), relu(with_relu), residual(with_residual) {
    x = random_values<T>(r * c, 1, offset - 2, offset + 2);
    gamma = random_values<T>(c, 2, 0.5, 2);
    beta = random_values<T>(c, 3);
    added = random_values<T>(r * c, 4);
    dy = random_values<T>(r * c, 5);
    compute();
  }

  void compute() {
    mean.assign(channels, 0), variance = dgamma = dbeta = mean;
    y.assign(rows * channels, 0), dx = dadded = y;
    const double n = static_cast<double>(rows);
    for (size_t c = 0; c < channels; ++c) {
      for (size_t r = 0; r < rows; ++r) mean[c] += at(x, r, c) / n;
      for (size_t r = 0; r < rows; ++r) variance[c] += std::pow(at(x, r, c) - mean[c], 2) / n;
      const double rstd = 1 / std::sqrt(variance[c] + kEpsilon);
      for (size_t r = 0; r < rows; ++r) {
        double v =
            (at(x, r, c) - mean[c]) * rstd * static_cast<double>(gamma[c]) + static_cast<double>(beta[c]);
        if (residual) v += at(added, r, c);
        y[r * channels + c] = relu ? std::max(v, 0.0) : v;
        const double dz = relu && v <= 0 ? 0 : at(dy, r, c);
        dadded[r * channels + c] = dz;
        dbeta[c] += dz;
        dgamma[c] += dz * (at(x, r, c) - mean[c]) * rstd;
      }
      for (size_t r = 0; r < rows; ++r) {
        const double normal = (at(x, r, c) - mean[c]) * rstd;
        dx[r * channels + c] = static_cast<double>(gamma[c]) * rstd *
                               (dadded[r * channels + c] - dbeta[c] / n - normal * dgamma[c] / n);
      }
    }
  }

  double at(const std::vector<T>& v, size_t r, size_t c) const {
    return static_cast<double>(v[r * channels + c]);
  }
  TensorType wide() const {
    return {kDType<T>, Shape{static_cast<int64_t>(rows), static_cast<int64_t>(channels)}};
  }
  TensorType thin() const { return {kDType<T>, Shape{static_cast<int64_t>(channels)}}; }
  Attrs attrs() const {
    return {
        {"epsilon", kEpsilon}, {"activation", std::string(relu ? "relu" : "linear")}, {"residual", residual}};
  }

  std::vector<Bytes> forward(int threads) const {
    std::vector<TensorType> in{wide(), thin(), thin()};
    std::vector<Bytes> args{to_bytes(x), to_bytes(gamma), to_bytes(beta)};
    if (residual) in.push_back(wide()), args.push_back(to_bytes(added));
    return call_kernel(highway::prepare_batch_norm, in, {wide(), thin(), thin()}, attrs(), args, threads);
  }
  std::vector<Bytes> backward(int threads) const {
    const auto narrow = [](const std::vector<double>& v) {
      return to_bytes(std::vector<T>(v.begin(), v.end()));
    };
    std::vector<TensorType> in{wide(), wide(), thin(), thin(), thin()}, out{wide(), thin(), thin()};
    std::vector<Bytes> args{to_bytes(dy), to_bytes(x), to_bytes(gamma), narrow(mean), narrow(variance)};
    if (relu) in.push_back(wide()), args.push_back(narrow(y));
    if (relu && residual) out.push_back(wide());
    return call_kernel(highway::prepare_batch_norm_grad, in, out, attrs(), args, threads);
  }
};

template <class T>
void check(const Trial<T>& t, double tolerance) {
  const std::vector<Bytes> f = t.forward(2), b = t.backward(2);
  expect_close(from_bytes<T>(f[0]), t.y, tolerance);
  const std::vector<T> mean = from_bytes<T>(f[1]);
  // As good as the data allow, which lie between -2 and 2: the mean itself may be near 0.
  for (size_t c = 0; c < t.channels; ++c) EXPECT_NEAR(static_cast<double>(mean[c]), t.mean[c], 2 * tolerance);
  expect_close(from_bytes<T>(f[2]), t.variance, tolerance);
  expect_close(from_bytes<T>(b[0]), t.dx, tolerance);
  expect_close(from_bytes<T>(b[1]), t.dgamma, tolerance);
  expect_close(from_bytes<T>(b[2]), t.dbeta, tolerance);
  if (b.size() == 4) expect_close(from_bytes<T>(b[3]), t.dadded, tolerance);
}

TEST(BatchNorm, MatchesTheFormulasInDouble) {
  for (const auto& [rows, channels] : std::vector<std::pair<size_t, size_t>>{
           {50, 1}, {40, 3}, {7, 8}, {100, 16}, {1500, 33}, {4100, 9}, {40, 600}}) {
    for (const bool relu : {false, true}) {
      for (const bool residual : {false, true}) {
        const Trial<float> t(rows, channels, relu, residual);
        const Trial<double> d(rows, channels, relu, residual);
        for_each_target([&] {
          check(t, kFloatTolerance);
          check(d, 1e-12);
        });
      }
    }
  }
}

TEST(BatchNorm, VarianceSurvivesALargeMean) {
  const Trial<float> t(20000, 8, false, false, 1000);
  expect_close(from_bytes<float>(t.forward(2)[2]), t.variance, 1e-5);
}

TEST(BatchNorm, ResultsDoNotDependOnThreads) {
  const Trial<float> t(9000, 24, true, true);
  EXPECT_EQ(t.forward(1), t.forward(3));
  EXPECT_EQ(t.backward(1), t.backward(3));
}

TEST(BatchNorm, EmptyBatchHasZeroSums) {
  const Trial<float> t(0, 4, false, false);
  EXPECT_EQ(from_bytes<float>(t.forward(1)[1]), std::vector<float>(4, 0.0f));
  EXPECT_EQ(from_bytes<float>(t.backward(1)[1]), std::vector<float>(4, 0.0f));
}

}  // namespace
}  // namespace plimsoll

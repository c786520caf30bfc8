#include "device/cpu/softmax_kernels.h"

#include <limits>

#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

template <class T>
class Softmax : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Softmax, Floats);

const AxisView kViews[] = {{1, 1, 1}, {3, 7, 1}, {5, 33, 1}, {2, 5, 3}, {2, 4, 37}, {300, 129, 1}, {0, 4, 1}};

size_t size_of_view(const AxisView& v) { return static_cast<size_t>(v.outer * v.n * v.inner); }

// Calls f(first element, stride) for each line along the axis.
template <class F>
void for_lines(const AxisView& v, const F& f) {
  for (int64_t o = 0; o < v.outer; ++o) {
    for (int64_t i = 0; i < v.inner; ++i)
      f(static_cast<size_t>(o * v.n * v.inner + i), static_cast<size_t>(v.inner));
  }
}

template <class T>
std::vector<double> reference(const AxisView& v, bool log, const std::vector<T>& x) {
  std::vector<double> y(x.size());
  const auto n = static_cast<size_t>(v.n);
  for_lines(v, [&](size_t at, size_t stride) {
    double top = -1e300, total = 0;
    for (size_t k = 0; k < n; ++k) top = std::max(top, static_cast<double>(x[at + k * stride]));
    for (size_t k = 0; k < n; ++k) total += std::exp(static_cast<double>(x[at + k * stride]) - top);
    for (size_t k = 0; k < n; ++k) {
      const double shifted = static_cast<double>(x[at + k * stride]) - top;
      y[at + k * stride] = log ? shifted - std::log(total) : std::exp(shifted) / total;
    }
  });
  return y;
}

TYPED_TEST(Softmax, MatchesDoubleReference) {
  for_each_target([] {
    for (const AxisView& v : kViews) {
      const auto x = random_values<TypeParam>(size_of_view(v), 1, -9, 9);
      for (const bool log : {false, true}) {
        std::vector<TypeParam> y(x.size());
        softmax_forward(kDType<TypeParam>, v, log, x.data(), y.data(), 2);
        expect_close(y, reference(v, log, x));
      }
    }
  });
}

TYPED_TEST(Softmax, GradientMatchesDoubleReference) {
  for_each_target([] {
    for (const AxisView& v : kViews) {
      for (const bool log : {false, true}) {
        const auto y = random_values<TypeParam>(size_of_view(v), 2, -2, log ? 0 : 1);
        const auto dy = random_values<TypeParam>(y.size(), 3);
        std::vector<TypeParam> dx(y.size());
        softmax_backward(kDType<TypeParam>, v, log, y.data(), dy.data(), dx.data(), 2);
        std::vector<double> expected(y.size());
        for_lines(v, [&](size_t at, size_t stride) {
          double total = 0;
          for (size_t k = 0; k < static_cast<size_t>(v.n); ++k) {
            const size_t i = at + k * stride;
            total += static_cast<double>(dy[i]) * (log ? 1.0 : static_cast<double>(y[i]));
          }
          for (size_t k = 0; k < static_cast<size_t>(v.n); ++k) {
            const size_t i = at + k * stride;
            const double p = static_cast<double>(y[i]), g = static_cast<double>(dy[i]);
            expected[i] = log ? g - std::exp(p) * total : p * (g - total);
          }
        });
        expect_close(dx, expected, 4 * kTolerance<TypeParam>);
      }
    }
  });
}

TYPED_TEST(Softmax, WorksInPlace) {
  const AxisView v{4, 11, 1};
  auto x = random_values<TypeParam>(44, 4);
  std::vector<TypeParam> y(44);
  softmax_forward(kDType<TypeParam>, v, false, x.data(), y.data(), 1);
  softmax_forward(kDType<TypeParam>, v, false, x.data(), x.data(), 1);
  EXPECT_EQ(x, y);
}

TYPED_TEST(Softmax, IsStableForLargeAndMaskedInputs) {
  using T = TypeParam;
  constexpr T kInf = std::numeric_limits<T>::infinity();
  for_each_target([] {
    const std::vector<T> x = {T{3e4}, T{3e4}, -kInf, T{-3e4}};
    std::vector<T> y(4);
    softmax_forward(kDType<T>, {1, 4, 1}, false, x.data(), y.data(), 1);
    EXPECT_EQ(y, (std::vector<T>{T(0.5), T(0.5), 0, 0}));
  });
}

TYPED_TEST(Softmax, LetsNaNThrough) {
  using T = TypeParam;
  for_each_target([] {
    for (size_t at : {0, 3, 8}) {
      std::vector<T> x(9, T{1}), y(9);
      x[at] = std::numeric_limits<T>::quiet_NaN();
      softmax_forward(kDType<T>, {1, 9, 1}, false, x.data(), y.data(), 1);
      for (const T v : y) EXPECT_TRUE(std::isnan(v));
    }
  });
}

TYPED_TEST(Softmax, DoesNotDependOnThreads) {
  const AxisView v{400, 321, 1};
  const auto x = random_values<TypeParam>(size_of_view(v), 5);
  std::vector<TypeParam> one(x.size()), two(x.size());
  softmax_forward(kDType<TypeParam>, v, false, x.data(), one.data(), 1);
  softmax_forward(kDType<TypeParam>, v, false, x.data(), two.data(), 2);
  EXPECT_EQ(one, two);
}

template <class T>
class CrossEntropy : public ::testing::Test {};
TYPED_TEST_SUITE(CrossEntropy, Floats);

TYPED_TEST(CrossEntropy, SparseMatchesDoubleReference) {
  using T = TypeParam;
  for_each_target([] {
    for (const RowsView v : {RowsView{1, 1}, RowsView{5, 10}, RowsView{3, 1000}, RowsView{50, 513}}) {
      const auto rows = static_cast<size_t>(v.rows), n = static_cast<size_t>(v.classes);
      const auto x = random_values<T>(rows * n, 6, -5, 5);
      const auto dloss = random_values<T>(rows, 7);
      std::vector<int32_t> labels(rows);
      for (size_t i = 0; i < rows; ++i) labels[i] = static_cast<int32_t>(i * 7 % n);
      std::vector<T> loss(rows), lse(rows), dx(rows * n);
      sparse_cross_entropy_forward(kDType<T>, v, x.data(), DType::i32, labels.data(), loss.data(), lse.data(),
                                   2);
      sparse_cross_entropy_backward(kDType<T>, v, x.data(), DType::i32, labels.data(), lse.data(),
                                    dloss.data(), dx.data(), 2);
      const auto logs = reference<T>({v.rows, v.classes, 1}, true, x);
      std::vector<double> expected(rows), gradient(rows * n);
      for (size_t i = 0; i < rows; ++i) {
        const auto label = static_cast<size_t>(labels[i]);
        expected[i] = -logs[i * n + label];
        for (size_t k = 0; k < n; ++k) {
          gradient[i * n + k] = (std::exp(logs[i * n + k]) - (k == label)) * static_cast<double>(dloss[i]);
        }
      }
      expect_close(loss, expected);
      expect_close(dx, gradient);
    }
  });
}

TYPED_TEST(CrossEntropy, LabelOutsideGivesNaNAndNoGradient) {
  using T = TypeParam;
  const RowsView v{3, 4};
  const auto x = random_values<T>(12, 8);
  const std::vector<int64_t> labels = {4, 2, -1};
  const std::vector<T> dloss(3, T{1});
  std::vector<T> loss(3), lse(3), dx(12, T{5});
  sparse_cross_entropy_forward(kDType<T>, v, x.data(), DType::i64, labels.data(), loss.data(), lse.data(), 1);
  sparse_cross_entropy_backward(kDType<T>, v, x.data(), DType::i64, labels.data(), lse.data(), dloss.data(),
                                dx.data(), 1);
  EXPECT_TRUE(std::isnan(loss[0]) && std::isfinite(loss[1]) && std::isnan(loss[2]));
  for (size_t k = 0; k < 4; ++k) EXPECT_TRUE(dx[k] == 0 && dx[4 + k] != 0 && dx[8 + k] == 0);
}

TYPED_TEST(CrossEntropy, DenseMatchesDoubleReference) {
  using T = TypeParam;
  for_each_target([] {
    for (const RowsView v : {RowsView{1, 1}, RowsView{5, 10}, RowsView{50, 513}}) {
      const auto rows = static_cast<size_t>(v.rows), n = static_cast<size_t>(v.classes);
      const auto x = random_values<T>(rows * n, 9, -5, 5), t = random_values<T>(rows * n, 10, 0, 1);
      const auto dloss = random_values<T>(rows, 11);
      std::vector<T> loss(rows), lse(rows), dx(rows * n);
      cross_entropy_forward(kDType<T>, v, x.data(), t.data(), loss.data(), lse.data(), 2);
      cross_entropy_backward(kDType<T>, v, x.data(), t.data(), lse.data(), dloss.data(), dx.data(), 2);
      const auto logs = reference<T>({v.rows, v.classes, 1}, true, x);
      std::vector<double> expected(rows), gradient(rows * n);
      for (size_t i = 0; i < rows; ++i) {
        double weight = 0;
        for (size_t k = i * n; k < (i + 1) * n; ++k) weight += static_cast<double>(t[k]);
        for (size_t k = i * n; k < (i + 1) * n; ++k) {
          const double target = static_cast<double>(t[k]);
          expected[i] -= target * logs[k];
          gradient[k] = (std::exp(logs[k]) * weight - target) * static_cast<double>(dloss[i]);
        }
      }
      expect_close(loss, expected);
      expect_close(dx, gradient);
    }
  });
}

}  // namespace
}  // namespace plimsoll

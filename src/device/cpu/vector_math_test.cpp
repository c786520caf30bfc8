#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/vector_math_test.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T, class F>
void map(const T* x, T* y, size_t n, const F& f) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(
      d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR { store(f(d, load(x, T{0})), y); });
}

template <class T>
void apply(int which, const T* x, T* y, size_t n) {
  if (which == 0) map(x, y, n, [](auto d, auto v) HWY_ATTR { return vm::exp(d, v); });
  if (which == 1) map(x, y, n, [](auto d, auto v) HWY_ATTR { return vm::tanh(d, v); });
  if (which == 2) map(x, y, n, [](auto d, auto v) HWY_ATTR { return vm::sigmoid(d, v); });
}
void apply_f32(int which, const float* x, float* y, size_t n) { apply<float>(which, x, y, n); }
void apply_f64(int which, const double* x, double* y, size_t n) { apply<double>(which, x, y, n); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

HWY_EXPORT(apply_f32);
HWY_EXPORT(apply_f64);
void apply(int which, const float* x, float* y, size_t n) { HWY_DYNAMIC_DISPATCH(apply_f32)(which, x, y, n); }
void apply(int which, const double* x, double* y, size_t n) {
  HWY_DYNAMIC_DISPATCH(apply_f64)(which, x, y, n);
}

double exact(int which, double x) {
  return which == 0 ? std::exp(x) : which == 1 ? std::tanh(x) : 1 / (1 + std::exp(-x));
}

template <class T>
void expect_ulps(int which, double low, double high, double ulps) {
  auto x = random_values<T>(20001, 1, low, high);
  for (size_t i = 0; i < 100; ++i)
    x[i] = static_cast<T>(std::pow(-0.7, static_cast<double>(i)));  // near zero
  std::vector<T> y(x.size());
  apply(which, x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double e = exact(which, static_cast<double>(x[i]));
    const double bound = ulps * std::numeric_limits<T>::epsilon() * std::abs(e);
    ASSERT_NEAR(static_cast<double>(y[i]), e, bound) << "f(" << x[i] << ")";
  }
}

TEST(VectorMath, IsWithinAFewUlps) {
  for_each_target([] {
    expect_ulps<float>(0, -87, 88, 2);
    expect_ulps<float>(1, -12, 12, 4);
    expect_ulps<float>(2, -80, 20, 4);
    expect_ulps<double>(0, -700, 700, 4);
    expect_ulps<double>(1, -12, 12, 8);
    expect_ulps<double>(2, -300, 20, 8);
  });
}

template <class T>
void expect_limits() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  const std::vector<T> x = {kInf, -kInf, std::numeric_limits<T>::quiet_NaN(), 0, T{2e4}, T{-2e4}};
  const std::vector<T> expected[] = {{kInf, 0, 0, 1, kInf, 0}, {1, -1, 0, 0, 1, -1}, {1, 0, 0, T(0.5), 1, 0}};
  for (int which = 0; which < 3; ++which) {
    std::vector<T> y(x.size());
    apply(which, x.data(), y.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (i == 2) {
        EXPECT_TRUE(std::isnan(y[i])) << which;
      } else {
        EXPECT_EQ(y[i], expected[which][i]) << which << " at " << x[i];
      }
    }
  }
}

TEST(VectorMath, KeepsLimitsAndNaN) {
  for_each_target([] {
    expect_limits<float>();
    expect_limits<double>();
  });
}

}  // namespace
}  // namespace plimsoll
#endif  // HWY_ONCE

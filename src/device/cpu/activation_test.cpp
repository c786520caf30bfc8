#include "device/cpu/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "hwy/targets.h"

namespace plimsoll {
namespace {

double reference(Activation a, double x) {
  const double s = 1 / (1 + std::exp(-x));
  switch (a) {
    case Activation::linear: return x;
    case Activation::relu: return x > 0 ? x : 0;
    case Activation::sigmoid: return s;
    case Activation::tanh: return std::tanh(x);
    case Activation::gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::silu: return x * s;
  }
  return 0;
}

template <class T>
void check(Activation a, double tolerance) {
  std::vector<T> x;
  for (double v = -12; v <= 12; v += 0.0137) x.push_back(static_cast<T>(v));
  std::vector<T> y = x;
  const void* const in[] = {y.data()};
  activation_kernel(a, sizeof(T) == 4 ? DType::f32 : DType::f64)(in, y.data(), y.size(), nullptr);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(y[i], reference(a, x[i]), tolerance * std::max(1.0, std::abs(double(x[i]))))
        << int(a) << " at " << x[i];
  }
}

TEST(Activation, MatchesDoubleReferenceOnEveryTarget) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    for (int a = 1; a < 7; ++a) {
      check<float>(static_cast<Activation>(a), 4e-7);
      check<double>(static_cast<Activation>(a), 1e-14);
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

// Against a central difference of the double reference.
template <class T>
void check_slope(Activation a) {
  for (double v = -12; v <= 12; v += 0.0137) {
    T x = static_cast<T>(v), dy = T(3);
    const void* const in[] = {&x, &dy};
    gelu_gradient_kernel(a, sizeof(T) == 4 ? DType::f32 : DType::f64)(in, &dy, 1, nullptr);
    const double at = static_cast<double>(x), h = 1e-5;
    const double tolerance = sizeof(T) == 4 ? 8e-6 : 3e-9;  // f32: 1 - tanh^2 cancels
    ASSERT_NEAR(dy, 3 * (reference(a, at + h) - reference(a, at - h)) / (2 * h), tolerance)
        << int(a) << " at " << v;
  }
}

TEST(Activation, GeluSlopeMatchesDifferencesOnEveryTarget) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    for (const Activation a : {Activation::gelu, Activation::gelu_tanh}) {
      check_slope<float>(a);
      check_slope<double>(a);
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

TEST(Activation, NanStaysNan) {
  for (int a = 1; a < 7; ++a) {
    float x = std::numeric_limits<float>::quiet_NaN();
    const void* const in[] = {&x};
    activation_kernel(static_cast<Activation>(a), DType::f32)(in, &x, 1, nullptr);
    EXPECT_TRUE(std::isnan(x)) << a;
  }
}

TEST(Activation, NamesAreThoseOfDense) {
  EXPECT_EQ(activation_from_name("gelu_tanh"), Activation::gelu_tanh);
  EXPECT_EQ(activation_from_name("softmax"), std::nullopt);
}

}  // namespace
}  // namespace plimsoll

// For the tests of kernels: random inputs, comparison with a reference in double, and every Highway target
// that this processor can run, forced in turn.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "hwy/highway.h"
#include "plimsoll/dtype.h"

namespace plimsoll::testing_kernels {

template <class T>
constexpr DType kDType = std::is_same_v<T, double> ? DType::f64 : DType::f32;
// Relative to the largest element: sums of some hundred terms, and exp with 2 ulp of error.
template <class T>
constexpr double kTolerance = std::is_same_v<T, double> ? 1e-13 : 4e-6;

template <class T>
std::vector<T> random_values(size_t n, uint32_t seed, double low = -2, double high = 2) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(uniform(engine));
  return values;
}

template <class T>
void expect_close(const std::vector<T>& got, const std::vector<double>& expected,
                  double tolerance = kTolerance<T>) {
  ASSERT_EQ(got.size(), expected.size());
  double largest = 1e-30;
  for (const double e : expected) largest = std::isfinite(e) ? std::max(largest, std::abs(e)) : largest;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(got[i])) << "at " << i;
    } else {
      ASSERT_NEAR(static_cast<double>(got[i]), expected[i], tolerance * largest) << "at " << i;
    }
  }
}

// Runs body() once for each target compiled in and supported here, then goes back to the best one.
template <class F>
void for_each_target(const F& body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace plimsoll::testing_kernels

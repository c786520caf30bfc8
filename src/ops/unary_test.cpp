#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <functional>

#include "graph/op.h"

namespace plimsoll {
namespace {

struct Row {
  const char* name;
  double (*exact)(double);
  double low, high;
  double ulps;  // allowed in f32
};

double sigmoid_exact(double x) { return 1 / (1 + std::exp(-x)); }
double rsqrt_exact(double x) { return 1 / std::sqrt(x); }

const Row kRows[] = {
    {"exp", std::exp, -110, 95, 2},         {"expm1", std::expm1, -30, 95, 3},
    {"log", std::log, 0, 1e30, 3},          {"log", std::log, 0.5, 2, 3},
    {"log1p", std::log1p, -0.999, 10, 4},   {"log1p", std::log1p, -1e-3, 1e-3, 4},
    {"tanh", std::tanh, -12, 12, 4},        {"tanh", std::tanh, -1e-2, 1e-2, 4},
    {"sigmoid", sigmoid_exact, -80, 80, 4}, {"sin", std::sin, -1000, 1000, 1},
    {"sin", std::sin, -1e7, 1e7, 1},        {"cos", std::cos, -1000, 1000, 1},
    {"tan", std::tan, -100, 100, 2},        {"arcsin", std::asin, -1, 1, 5},
    {"arccos", std::acos, -1, 1, 5},        {"arctan", std::atan, -50, 50, 5},
    {"sinh", std::sinh, -89, 89, 5},        {"cosh", std::cosh, -89, 89, 5},
    {"arcsinh", std::asinh, -1e3, 1e3, 2},  {"arccosh", std::acosh, 1, 1e3, 2},
    {"arctanh", std::atanh, -1, 1, 2},      {"erf", std::erf, -5, 5, 5},
    {"erf", std::erf, -1e-3, 1e-3, 5},      {"erfc", std::erfc, -3, 9, 3},
    {"cbrt", std::cbrt, -1e3, 1e3, 2},      {"rsqrt", rsqrt_exact, 1e-6, 1e6, 2},
};

Tile tile_of(const char* name, DType t) {
  const TensorType type{t, Shape{1}};
  return get_op(name).tile({&type, 1}, type, {});
}

// Calls f once for every target this machine can run, with that target chosen.
void on_every_target(const std::function<void(const char*)>& f) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    f(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
std::vector<T> samples(const Row& row) {
  std::vector<T> x;
  for (int i = 0; i <= 4001; ++i) x.push_back(static_cast<T>(row.low + (row.high - row.low) * i / 4001));
  return x;
}

template <class T>
void check(const Row& row, DType t, double tolerance, const char* target) {
  const std::vector<T> x = samples<T>(row);
  std::vector<T> y(x.size());
  const void* in[] = {x.data()};
  const Tile tile = tile_of(row.name, t);
  tile.fn(in, y.data(), x.size(), tile.params.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double exact = row.exact(static_cast<double>(x[i]));
    const T rounded = static_cast<T>(exact);
    if (!std::isfinite(rounded)) {
      ASSERT_TRUE(y[i] == rounded || (std::isnan(y[i]) && std::isnan(rounded)))
          << row.name << "(" << x[i] << ") = " << y[i] << " on " << target;
    } else {
      const double allowed = tolerance * std::abs(exact) + std::numeric_limits<T>::min() * 1e-3;
      ASSERT_NEAR(y[i], exact, allowed) << row.name << "(" << x[i] << ") on " << target;
    }
  }
}

TEST(Unary, F32IsGoodToSomeUlpOnEveryTarget) {
  on_every_target([](const char* target) {
    for (const Row& row : kRows) check<float>(row, DType::f32, row.ulps * 6e-8, target);
  });
}

TEST(Unary, F64IsGoodToFourteenDigitsOnEveryTarget) {
  on_every_target([](const char* target) {
    // Far out, the C library's own tan and the reduction of large sines are worth some ulp less.
    for (const Row& row : kRows) check<double>(row, DType::f64, 2e-14, target);
  });
}

TEST(Unary, ErfinvIsTheInverseOfErf) {
  for (const double y : {-0.999999, -0.5, -1e-9, 0.0, 0.3, 0.75, 0.9999999999}) {
    double x = NAN;
    const void* in[] = {&y};
    tile_of("erfinv", DType::f64).fn(in, &x, 1, nullptr);
    EXPECT_NEAR(std::erf(x), y, 1e-15) << y;
  }
}

TEST(Unary, SpecialValuesAreThoseOfTheCLibrary) {
  const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 3.4e38f, -3.4e38f, -1e10f};
  on_every_target([&](const char* target) {
    for (const Row& row : kRows) {
      float y[10];
      const void* in[] = {special};
      tile_of(row.name, DType::f32).fn(in, y, 10, nullptr);
      for (int i = 0; i < 10; ++i) {
        const float exact = static_cast<float>(row.exact(special[i]));
        if (std::isnan(exact)) {
          EXPECT_TRUE(std::isnan(y[i]))
              << row.name << "(" << special[i] << ") = " << y[i] << " on " << target;
        } else if (std::isinf(exact) || exact == 0) {
          EXPECT_EQ(y[i], exact) << row.name << "(" << special[i] << ") on " << target;
        }
      }
    }
  });
}

TEST(Unary, TailsOfEveryLengthAreComputed) {
  on_every_target([](const char* target) {
    for (size_t n = 0; n < 40; ++n) {
      std::vector<float> x(n + 1, 4.0f), y(n + 1, -1.0f);
      const void* in[] = {x.data()};
      tile_of("sqrt", DType::f32).fn(in, y.data(), n, nullptr);
      for (size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], 2.0f) << target;
      ASSERT_EQ(y[n], -1.0f) << "wrote past the end on " << target;
    }
  });
}

}  // namespace
}  // namespace plimsoll

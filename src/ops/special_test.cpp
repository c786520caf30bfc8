// Functions made of other ops, and gradients that the sweep cannot take: by one of two operands.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ops/gradient_testing.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using testing_gradients::expect_gradients;
using testing_gradients::expect_second_gradients;
using testing_gradients::noise;

template <class T>
void expect_next(const std::vector<T>& x, const std::vector<T>& y) {
  const Shape shape{static_cast<int64_t>(x.size())};
  const Tensor got = nextafter(Tensor::from<T>(x, shape), Tensor::from<T>(y, shape));
  for (size_t i = 0; i < x.size(); ++i) {
    const T want = std::nextafter(x[i], y[i]), g = got.data<T>()[i];
    EXPECT_TRUE(g == want || (std::isnan(g) && std::isnan(want))) << x[i] << " to " << y[i] << ": " << g;
  }
}

template <class T>
void expect_next_of_all() {
  using L = std::numeric_limits<T>;
  const T some[] = {0,
                    -T(0),
                    1,
                    -1,
                    T(1.5),
                    -T(3e-20),
                    L::denorm_min(),
                    L::min(),
                    L::max(),
                    L::lowest(),
                    L::infinity(),
                    -L::infinity(),
                    -L::denorm_min(),
                    L::quiet_NaN()};
  std::vector<T> x, y;
  for (const T a : some) {
    for (const T b : some) x.push_back(a), y.push_back(b);
  }
  expect_next(x, y);
}

TEST(Nextafter, IsTheCLibrarysInFloat32) { expect_next_of_all<float>(); }
TEST(Nextafter, IsTheCLibrarysInFloat64) { expect_next_of_all<double>(); }

TEST(Nextafter, StepsByOneUnitInHalves) {
  for (const auto& [dtype, unit] : {std::pair(DType::f16, 0x1p-10), std::pair(DType::bf16, 0x1p-7)}) {
    const Tensor one = Tensor::full(dtype, {}, 1), up = Tensor::full(dtype, {}, 9),
                 down = Tensor::full(dtype, {}, -9);
    EXPECT_EQ(nextafter(one, up).dtype(), dtype);
    EXPECT_EQ(nextafter(one, up).item(), 1 + unit);
    EXPECT_EQ(nextafter(one, down).item(), 1 - unit / 2);
  }
}

TEST(Clip, TakesTensors) {
  const Tensor x = Tensor::from<double>(std::vector<double>{-3, 0, 3, 5, NAN}, {5});
  const Tensor y = clip(x, Tensor::full(DType::f64, {}, -1),
                        Tensor::from<double>(std::vector<double>{9, 9, 2, 6, 1}, {5}));
  const double want[] = {-1, 0, 2, 5};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y.data<double>()[i], want[i]);
  EXPECT_TRUE(std::isnan(y.data<double>()[4]));
}

TEST(Igamma, HasAGradientByX) {
  const Tensor a = Tensor::from<double>(std::vector<double>{0.3, 1, 4.5, 30}, {4});
  const Tensor x = Tensor::from<double>(std::vector<double>{0.7, 0.2, 6, 25}, {4});
  expect_gradients([&](const std::vector<Tensor>& in) { return igamma(a, in[0]); }, {x});
  expect_gradients([&](const std::vector<Tensor>& in) { return igammac(a, in[0]); }, {x});
  expect_second_gradients([&](const std::vector<Tensor>& in) { return igamma(a, in[0]); }, {x});
}

TEST(Igamma, RefusesAGradientByA) {
  Graph g;
  const Tensor a = g.input("a", DType::f64, {}), x = g.input("x", DType::f64, {});
  EXPECT_THROW(gradients(igamma(a, x), std::span(&a, 1)), Error);
  EXPECT_NO_THROW(gradients(igamma(stop_gradient(a), x) * a, std::span(&a, 1)));
}

TEST(Igamma, HasItsLimits) {
  const auto at = [](double a, double x) {
    return igamma(Tensor::full(DType::f64, {}, a), Tensor::full(DType::f64, {}, x)).item();
  };
  EXPECT_EQ(at(2, 0), 0);
  EXPECT_EQ(at(2, INFINITY), 1);
  EXPECT_TRUE(std::isnan(at(-1, 2)));
  EXPECT_TRUE(std::isnan(at(1, -2)));
}

TEST(StopGradient, LetsNothingThrough) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {3});
  g.output("d", gradients(sum(x * stop_gradient(x * x)), std::span(&x, 1))[0]);
  const Tensor at = Tensor::from<double>(std::vector<double>{1, 2, 3}, {3});
  const Tensor d = Program::compile(g)(std::span(&at, 1))[0];
  for (int i = 0; i < 3; ++i) EXPECT_EQ(d.data<double>()[i], (i + 1.0) * (i + 1.0));
}

TEST(Sort, PutsNaNsLastAndKeepsTheOrderOfEquals) {
  const Tensor x =
      Tensor::from<float>(std::vector<float>{NAN, 2, -0.0F, 0, -INFINITY, 2, NAN, INFINITY}, {8});
  const Tensor order = argsort(x);
  const int32_t want[] = {4, 2, 3, 1, 5, 7, 0, 6};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(order.data<int32_t>()[i], want[i]) << i;
}

TEST(TopK, CountsNaNAsTheLargest) {
  const Tensor x = Tensor::from<float>(std::vector<float>{1, NAN, 3, 3}, {4});
  const std::vector<Tensor> top = top_k(x, 3);
  const int32_t want[] = {1, 2, 3};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(top[1].data<int32_t>()[i], want[i]) << i;
  EXPECT_TRUE(std::isnan(top[0].data<float>()[0]));
  EXPECT_THROW(top_k(x, 5), Error);
}

}  // namespace
}  // namespace plimsoll

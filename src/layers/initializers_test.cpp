#include "plimsoll/initializers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

struct Moments {
  double mean, stddev, low, high;
};
Moments moments(const Tensor& t) {
  return {mean(t).item(), std::sqrt(variance(t).item()), min(t).item(), max(t).item()};
}

// Of 120,000 draws the mean is within 4 / sqrt(n) = 1.2 % of a standard deviation, the deviation within 1 %.
void expect_moments(const Initializer& initializer, double mean, double stddev, double reach) {
  const Moments m = moments(initializer->make({300, 400}, DType::f32));
  EXPECT_NEAR(m.mean, mean, 0.012 * stddev) << initializer->class_name();
  EXPECT_NEAR(m.stddev, stddev, 0.01 * stddev) << initializer->class_name();
  EXPECT_LE(m.high, mean + reach * 1.000001) << initializer->class_name();
  EXPECT_GE(m.low, mean - reach * 1.000001) << initializer->class_name();
}

constexpr double kTruncated = 0.87962566103423978;

TEST(Initializers, HaveTheMomentsOfKeras) {
  const double six_in = std::sqrt(6.0 / 300), three_in = std::sqrt(3.0 / 300), six_all = std::sqrt(6.0 / 700);
  expect_moments(RandomNormal({.mean = 1, .stddev = 2, .seed = 1}), 1, 2, 20);
  expect_moments(RandomUniform({.minval = -1, .maxval = 3, .seed = 1}), 1, 4 / std::sqrt(12.0), 2);
  expect_moments(TruncatedNormal({.mean = 0, .stddev = 2, .seed = 1}), 0, 2 * kTruncated, 4);
  expect_moments(GlorotUniform({.seed = 1}), 0, six_all / std::sqrt(3.0), six_all);
  expect_moments(GlorotNormal({.seed = 1}), 0, std::sqrt(2.0 / 700), 2 * std::sqrt(2.0 / 700) / kTruncated);
  expect_moments(HeUniform({.seed = 1}), 0, six_in / std::sqrt(3.0), six_in);
  expect_moments(HeNormal({.seed = 1}), 0, std::sqrt(2.0 / 300), 2 * std::sqrt(2.0 / 300) / kTruncated);
  expect_moments(LecunUniform({.seed = 1}), 0, three_in / std::sqrt(3.0), three_in);
  expect_moments(LecunNormal({.seed = 1}), 0, std::sqrt(1.0 / 300), 2 * std::sqrt(1.0 / 300) / kTruncated);
  expect_moments(
      VarianceScaling({.scale = 3, .mode = "fan_out", .distribution = "untruncated_normal", .seed = 1}), 0,
      std::sqrt(3.0 / 400), 1);
}

TEST(Initializers, OfOneValueHaveIt) {
  const std::pair<Initializer, double> rows[] = {{Zeros(), 0.0}, {Ones(), 1.0}, {Constant(-2.5), -2.5}};
  for (const auto& [initializer, value] : rows) {
    const Tensor made = initializer->make({2, 3}, DType::f32);
    EXPECT_EQ(testing::bit_difference(made, Tensor::full(DType::f32, {2, 3}, value)), "") << value;
  }
}

TEST(Initializers, CountTheWindowOfAConvolution) {
  const Moments m = moments(HeUniform({.seed = 2})->make({3, 3, 64, 100}, DType::f32));
  EXPECT_NEAR(m.high, std::sqrt(6.0 / (9 * 64)), 1e-4);
}

TEST(Initializers, OrthogonalHasOrthonormalRowsOrColumns) {
  for (const Shape& shape : {Shape{5, 5}, Shape{3, 7}, Shape{2, 3, 4}}) {
    const Tensor made = Orthogonal({.gain = 2, .seed = 5})->make(shape, DType::f64);
    const int64_t width = shape.dim(-1);
    const Tensor q = reshape(made, Shape{shape.elements() / width, width});
    const bool wide = q.dim(0) < q.dim(1);
    const Tensor product = wide ? matmul(q, transpose(q, {1, 0})) : matmul(transpose(q, {1, 0}), q);
    const Tensor want = IdentityMatrix(4)->make(product.shape(), DType::f64);
    EXPECT_EQ(testing::difference(product, want, 1e-12), "") << shape.str();
  }
  EXPECT_THROW(Orthogonal()->make({3}, DType::f32), Error);
}

TEST(Initializers, FollowTheirSeed) {
  const Shape shape{20};
  const auto same = [&](const Initializer& a, const Initializer& b) {
    return testing::bit_difference(a->make(shape, DType::f32), b->make(shape, DType::f32)).empty();
  };
  EXPECT_TRUE(same(HeNormal({.seed = 3}), HeNormal({.seed = 3})));
  EXPECT_FALSE(same(HeNormal({.seed = 3}), HeNormal({.seed = 4})));
  EXPECT_FALSE(same(HeNormal(), HeNormal()));
  const Initializer one = GlorotUniform();
  EXPECT_TRUE(same(one, one));
  set_random_seed(11);
  const Initializer first = GlorotUniform();
  set_random_seed(11);
  EXPECT_TRUE(same(first, GlorotUniform()));
}

TEST(Constraints, AreKeras) {
  const Tensor w = testing::fill(DType::f32, {3, 2}, -3, 1.5, testing::hash_text("constraint"));
  const auto check = [&](const Constraint& c, std::vector<float> want) {
    EXPECT_EQ(testing::difference(c->apply(w), Tensor::from<float>(want, {3, 2}), 1e-6), "")
        << c->class_name();
  };
  check(MaxNorm(0.6), {-0.3474914f, 0.2347646f, 0.4244882f, -0.552106f, 0.2430212f, 0.008032308f});
  check(MinMaxNorm(0.5, 1.0, 0.7, {1}),
        {-0.5806108f, 0.2367246f, 0.7092621f, -0.5567153f, 0.4717469f, 0.009409682f});
  check(UnitNorm({0, 1}), {-0.4958541f, 0.2021679f, 0.605725f, -0.4754468f, 0.34678f, 0.006917033f});
  check(NonNeg(), {0.0f, 0.2367246f, 0.7092621f, 0.0f, 0.4060554f, 0.008099368f});
}

}  // namespace
}  // namespace plimsoll

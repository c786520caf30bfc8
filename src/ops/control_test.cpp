#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

Tensor doubles(std::vector<double> v, const Shape& shape) { return Tensor::from<double>(v, shape); }
std::vector<double> values(const Tensor& t) {
  const double* p = t.data<double>();
  return {p, p + t.shape().elements()};
}

// c' = tanh(c * w + x_t), y_t = c' * c'; w is captured.
std::vector<Tensor> step(const Tensor& c, const Tensor& x, const Tensor& w) {
  const Tensor next = tanh(c * w + x);
  return {next, next * next};
}

// d(sum y + sum final c) by c0, xs and w, through a scan or unrolled by hand; or the gradients of the sum of
// their squares.
std::vector<std::vector<double>> recurrence_gradients(bool unrolled, bool reversed, int order) {
  Graph g;
  const Tensor c0 = g.input("c0", DType::f64, {2}), xs = g.input("xs", DType::f64, {3, 2}),
               w = g.input("w", DType::f64, {2});
  Tensor total;
  if (unrolled) {
    Tensor c = c0;
    for (int t = 0; t < 3; ++t) {
      const int64_t at = reversed ? 2 - t : t;
      const auto r = step(c, reshape(slice(xs, {at, 0}, {at + 1, 2}), Shape{2}), w);
      c = r[0];
      total = total.defined() ? total + sum(r[1]) : sum(r[1]);
    }
    total = total + sum(c);
  } else {
    const Body body = [&](std::span<const Tensor> in) { return step(in[0], in[1], w); };
    const auto r = scan(std::span(&c0, 1), std::span(&xs, 1), 3, body, reversed);
    total = sum(r[1]) + sum(r[0]);
  }
  const std::vector<Tensor> by = {c0, xs, w};
  std::vector<Tensor> ds = gradients(total, by);
  for (int k = 1; k < order; ++k)
    ds = gradients(sum(ds[0] * ds[0]) + sum(ds[1] * ds[1]) + sum(ds[2] * ds[2]), by);
  for (const Tensor& d : ds) g.output("", d);
  const std::vector<Tensor> in = {doubles({0.1, -0.2}, {2}),
                                  doubles({0.3, 0.1, -0.5, 0.7, 0.2, -0.1}, {3, 2}),
                                  doubles({0.9, -1.1}, {2})};
  std::vector<std::vector<double>> out;
  for (const Tensor& t : Program::compile(g)(in)) out.push_back(values(t));
  return out;
}

void expect_unrolled_is_the_same(int order) {
  for (const bool reversed : {false, true}) {
    const auto a = recurrence_gradients(false, reversed, order),
               b = recurrence_gradients(true, reversed, order);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t k = 0; k < a[i].size(); ++k) {
        EXPECT_NEAR(a[i][k], b[i][k], 1e-12 * std::max(1.0, std::abs(b[i][k]))) << i << " " << k;
      }
    }
  }
}

TEST(Scan, GradientsEqualThoseOfTheUnrolledLoop) { expect_unrolled_is_the_same(1); }

TEST(Scan, HigherDerivativesEqualThoseOfTheUnrolledLoop) {
  expect_unrolled_is_the_same(2);
  expect_unrolled_is_the_same(3);
}

TEST(Scan, RunsEagerlyAndWithNoRounds) {
  const Tensor c = doubles({1}, {1}), xs = doubles({1, 2, 3}, {3, 1}),
               none = Tensor::zeros(DType::f64, {0, 1});
  const Body add_up = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] + in[1], in[0]}; };
  const auto r = scan(std::span(&c, 1), std::span(&xs, 1), 3, add_up);
  EXPECT_EQ(values(r[0]), (std::vector<double>{7}));
  EXPECT_EQ(values(r[1]), (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(values(scan(std::span(&c, 1), std::span(&none, 1), 0, add_up)[0]), (std::vector<double>{1}));
}

TEST(Scan, RefusesACarryThatChangesItsType) {
  const Tensor c = doubles({1}, {1}), xs = doubles({1, 2}, {2, 1});
  const Body grows = [](std::span<const Tensor> in) {
    const std::vector<Tensor> both = {in[0], in[1]};
    return std::vector<Tensor>{concatenate(both, 0)};
  };
  EXPECT_THROW(scan(std::span(&c, 1), std::span(&xs, 1), 2, grows), Error);
}

TEST(Cond, TakesOneBranchAndItsGradient) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {2}), k = g.input("k", DType::f64, {2});
  const Tensor positive = greater(sum(x), scalar_like(x, 0));
  const Body square_it = [&](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * in[0] * k}; };
  const Body negate = [](std::span<const Tensor> in) { return std::vector<Tensor>{-in[0]}; };
  const Tensor y = cond(positive, std::span(&x, 1), square_it, negate)[0];
  const std::vector<Tensor> by = {x, k};
  const auto d = gradients(y, by);
  for (const Tensor& t : {y, d[0], d[1]}) g.output("", t);
  Program p = Program::compile(g);
  const std::vector<Tensor> up = {doubles({1, 2}, {2}), doubles({3, 5}, {2})};
  auto out = p(up);
  EXPECT_EQ(values(out[0]), (std::vector<double>{3, 20}));
  EXPECT_EQ(values(out[1]), (std::vector<double>{6, 20}));
  EXPECT_EQ(values(out[2]), (std::vector<double>{1, 4}));
  const std::vector<Tensor> down = {doubles({-1, -2}, {2}), doubles({3, 5}, {2})};
  out = p(down);
  EXPECT_EQ(values(out[0]), (std::vector<double>{1, 2}));
  EXPECT_EQ(values(out[1]), (std::vector<double>{-1, -1}));
  EXPECT_EQ(values(out[2]), (std::vector<double>{0, 0}));
}

TEST(WhileLoop, RunsUntilTheTestFails) {
  const Tensor x = doubles({1}, {}), n = Tensor::zeros(DType::i32, {});
  const std::vector<Tensor> state = {x, n};
  const Body test = [](std::span<const Tensor> in) {
    return std::vector<Tensor>{less(in[0], scalar_like(in[0], 100))};
  };
  const Body body = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 2.0, in[1] + 1.0}; };
  const auto out = while_loop(state, test, body);
  EXPECT_EQ(out[0].item(), 128);
  EXPECT_EQ(out[1].item(), 7);
}

TEST(Control, NestsAndCapturesFromEveryLevel) {
  Graph g;
  const Tensor a = g.input("a", DType::f64, {}), xs = g.input("xs", DType::f64, {3});
  const Body outer = [&](std::span<const Tensor> in) {
    const Tensor c = in[0], x = in[1];
    const Body yes = [&](std::span<const Tensor>) { return std::vector<Tensor>{c + x * a}; };
    const Body no = [&](std::span<const Tensor>) { return std::vector<Tensor>{c}; };
    return cond(greater(x, scalar_like(x, 0)), {}, yes, no);
  };
  const Tensor zero = g.constant(Tensor::zeros(DType::f64, {}));
  const Tensor total = scan(std::span(&zero, 1), std::span(&xs, 1), 3, outer)[0];
  g.output("total", total);
  g.output("da", gradients(total, std::span(&a, 1))[0]);
  const std::vector<Tensor> in = {doubles({10}, {}), doubles({1, -5, 2}, {3})};
  const auto out = Program::compile(g)(in);
  EXPECT_EQ(out[0].item(), 30);
  EXPECT_EQ(out[1].item(), 3);
}

TEST(Control, TextFormHoldsTheBodies) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  const Body same = [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 3.0}; };
  g.output("y", cond(greater(x, scalar_like(x, 0)), std::span(&x, 1), same, same)[0]);
  const Graph back = Graph::parse(g.text());
  EXPECT_EQ(back.text(), g.text());
}

}  // namespace
}  // namespace plimsoll

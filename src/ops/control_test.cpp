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

// x w^n, n rounds of a loop that captures w; its derivatives by x and w.
std::vector<double> power_and_slopes(double x_value, double w_value, int rounds) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {}), w = g.input("w", DType::f64, {}),
               n = g.input("n", DType::i32, {});
  const std::array state = {x, g.constant(Tensor::zeros(DType::i32, {}))};
  const Body test = [&](std::span<const Tensor> in) { return std::vector<Tensor>{less(in[1], n)}; };
  const Body body = [&](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * w, in[1] + 1.0}; };
  const Tensor y = while_loop(state, test, body)[0];
  g.output("y", y);
  for (const Tensor& d : gradients(y, std::array{x, w})) g.output("", d);
  const std::array in = {doubles({x_value}, {}), doubles({w_value}, {}),
                         Tensor::full(DType::i32, {}, rounds)};
  std::vector<double> out;
  for (const Tensor& t : Program::compile(g)(in)) out.push_back(t.item());
  return out;
}

TEST(WhileLoop, HasAGradientWhateverItsRounds) {
  for (const int n : {0, 1, 2, 31, 32, 33, 64, 65, 500}) {
    const double x = 3, w = n % 2 == 0 ? 1.01 : -0.99;
    const std::vector<double> got = power_and_slopes(x, w, n);
    const double last = n == 0 ? 0 : n * x * std::pow(w, n - 1);
    EXPECT_NEAR(got[0], x * std::pow(w, n), 1e-9) << n;
    EXPECT_NEAR(got[1], std::pow(w, n), 1e-9) << n;
    EXPECT_NEAR(got[2], last, 1e-9 * std::max(1.0, std::abs(last))) << n;
  }
}

TEST(WhileLoop, PassesNoGradientToWhatItsBodyThrowsAway) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {}), n = g.constant(Tensor::zeros(DType::i32, {}));
  const Body test = [](std::span<const Tensor> in) {
    return std::vector<Tensor>{less(in[1], scalar_like(in[1], 3))};
  };
  const Body body = [](std::span<const Tensor> in) {
    return std::vector<Tensor>{Tensor::full(DType::f64, {}, 5), in[1] + 1.0};
  };
  const Tensor y = while_loop(std::array{x, n}, test, body)[0];
  for (const Tensor& t : {y, gradients(y, std::span(&x, 1))[0]}) g.output("", t);
  const Tensor at = doubles({2}, {});
  const std::vector<Tensor> out = Program::compile(g)(std::span(&at, 1));
  EXPECT_EQ(out[0].item(), 5);
  EXPECT_EQ(out[1].item(), 0);
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

// 10, 20, 30 or 40 times x.
std::vector<Tensor> tens(const Tensor& index, const Tensor& x, size_t count) {
  std::vector<Body> branches;
  for (size_t k = 1; k <= count; ++k) {
    branches.push_back([k](std::span<const Tensor> in) {
      return std::vector<Tensor>{in[0] * (10.0 * static_cast<double>(k))};
    });
  }
  return switch_case(index, std::span(&x, 1), branches);
}

TEST(SwitchCase, TakesTheBranchOfTheIndexAndClipsIt) {
  const Tensor one = doubles({1}, {1});
  for (const size_t count : {1, 2, 3, 4}) {
    for (int64_t i = -1; i < 6; ++i) {
      const double want =
          10.0 * static_cast<double>(std::clamp<int64_t>(i, 0, static_cast<int64_t>(count) - 1) + 1);
      const Tensor index = Tensor::full(DType::i32, {}, static_cast<double>(i));
      EXPECT_EQ(values(tens(index, one, count)[0])[0], want) << i << " of " << count;
      Graph g;
      const Tensor at = g.input("i", DType::i32, {}), x = g.input("x", DType::f64, {1});
      g.output("d", gradients(sum(tens(at, x, count)[0]), std::span(&x, 1))[0]);
      EXPECT_EQ(values(Program::compile(g)(std::array{index, one})[0])[0], want);
    }
  }
}

// x is doubled while below 10.
std::vector<Tensor> doubled(const Tensor& x, int64_t most) {
  return bounded_while(
      std::span(&x, 1), most,
      [](std::span<const Tensor> in) { return std::vector<Tensor>{less(in[0], scalar_like(in[0], 10))}; },
      [](std::span<const Tensor> in) { return std::vector<Tensor>{in[0] * 2.0}; });
}

TEST(BoundedWhile, StopsByItselfOrAtTheBoundAndHasAGradient) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {});
  const Tensor far = doubled(x, 9)[0], near = doubled(x, 2)[0];
  for (const Tensor& y :
       {far, near, gradients(far, std::span(&x, 1))[0], gradients(near, std::span(&x, 1))[0]})
    g.output("", y);
  const Tensor at = doubles({1.5}, {});
  const std::vector<Tensor> y = Program::compile(g)(std::span(&at, 1));
  EXPECT_EQ(y[0].item(), 12);
  EXPECT_EQ(y[1].item(), 6);
  EXPECT_EQ(y[2].item(), 8);
  EXPECT_EQ(y[3].item(), 4);
}

TEST(Loops, CarryManyValues) {
  std::vector<Tensor> state;
  for (int i = 0; i < 400; ++i) state.push_back(doubles({static_cast<double>(i)}, {1}));
  const Body next = [](std::span<const Tensor> in) {
    std::vector<Tensor> out;
    for (const Tensor& t : in) out.push_back(t + 1.0);
    return out;
  };
  const Body test = [](std::span<const Tensor> in) {
    return std::vector<Tensor>{less(reshape(in[0], Shape{}), Tensor::full(DType::f64, {}, 5))};
  };
  const auto looped = while_loop(state, test, next), scanned = scan(state, {}, 5, next);
  for (size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(looped[i].item(), static_cast<double>(i) + 5);
    EXPECT_EQ(scanned[i].item(), static_cast<double>(i) + 5);
  }
}

// exp(x), whose gradient is said to be 3 dy exp(x): it captures what the forward pass made.
TEST(CustomVjp, SendsGradientsItsOwnWay) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {2}), w = g.input("w", DType::f64, {2});
  const Tensor inner = x * w, e = exp(inner);
  const Tensor y = custom_vjp(std::span(&e, 1), std::span(&inner, 1), [&](std::span<const Tensor> dy) {
    return std::vector<Tensor>{dy[0] * e * 3.0};
  })[0];
  g.output("y", y);
  for (const Tensor& d : gradients(sum(y), std::array{x, w})) g.output("", d);
  const std::vector<Tensor> out =
      Program::compile(g)(std::array{doubles({0.5, -1}, {2}), doubles({2, 3}, {2})});
  for (size_t i = 0; i < 2; ++i) {
    const double at_x = i == 0 ? 0.5 : -1, at_w = i == 0 ? 2 : 3;
    EXPECT_DOUBLE_EQ(values(out[0])[i], std::exp(at_x * at_w));
    EXPECT_DOUBLE_EQ(values(out[1])[i], 3 * std::exp(at_x * at_w) * at_w);
    EXPECT_DOUBLE_EQ(values(out[2])[i], 3 * std::exp(at_x * at_w) * at_x);
  }
}

TEST(CustomVjp, RefusesAGradientOfAnotherType) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {2}), y = exp(x);
  EXPECT_THROW(custom_vjp(std::span(&y, 1), std::span(&x, 1),
                          [](std::span<const Tensor> dy) { return std::vector<Tensor>{sum(dy[0])}; }),
               Error);
}

// A chain of large intermediate results, after each of which comes another such part.
Program chain(bool again, int order) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {64, 64}), w = g.input("w", DType::f64, {64, 64});
  const Body part = [&](std::span<const Tensor> in) {
    Tensor h = in[0];
    for (int i = 0; i < 6; ++i) h = tanh(matmul(h, w));
    return std::vector<Tensor>{h};
  };
  Tensor h = x;
  for (int i = 0; i < 4; ++i) h = again ? remat(std::span(&h, 1), part)[0] : part(std::span(&h, 1))[0];
  const std::vector<Tensor> by = {x, w};
  std::vector<Tensor> d = gradients(sum(h * h), by);
  for (int k = 1; k < order; ++k) d = gradients(sum(d[0] * d[0]) + sum(d[1] * d[1]), by);
  for (const Tensor& t : d) g.output("", t);
  return Program::compile(g);
}

TEST(Remat, GivesTheSameGradientsInLessMemory) {
  std::vector<double> noise(64 * 64);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = 0.2 * std::sin(static_cast<double>(i * i));
  const std::array<Tensor, 2> in = {doubles(noise, {64, 64}), doubles(noise, {64, 64})};
  for (const int order : {1, 2}) {
    Program plain = chain(false, order), again = chain(true, order);
    const auto want = plain(in), got = again(in);
    for (size_t i = 0; i < 2; ++i) {  // what w gets from each part is added in another order
      const double largest = max(absolute(want[i])).item();
      EXPECT_LE(max(absolute(got[i] - want[i])).item(), 1e-13 * largest) << order;
    }
    if (order == 1) {
      EXPECT_LT(again.memory().arena, plain.memory().arena * 2 / 3);
    }
  }
}

TEST(Remat, TakesIntegersAlong) {
  Graph g;
  const Tensor x = g.input("x", DType::f64, {5}), at = g.input("at", DType::i32, {3});
  const Tensor y = remat(std::array{x, at}, [](std::span<const Tensor> in) {
    return std::vector<Tensor>{take(in[0] * in[0], in[1], 0)};
  })[0];
  g.output("", gradients(sum(y), std::span(&x, 1))[0]);
  const std::vector<int32_t> index = {4, 0, 4};
  const auto d =
      Program::compile(g)(std::array{doubles({1, 2, 3, 4, 5}, {5}), Tensor::from<int32_t>(index, {3})})[0];
  EXPECT_EQ(values(d), (std::vector<double>{2, 0, 0, 0, 20}));
}

}  // namespace
}  // namespace plimsoll

// Complex functions against those of the C++ library, and their gradients by the parts.
#include <gtest/gtest.h>

#include <complex>

#include "ops/gradient_testing.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using Number = std::complex<double>;
using testing_gradients::expect_gradients;

const std::vector<Number> kSome = {{1, 1}, {-1, 2}, {0.5, -3}, {-2, -0.25}, {3, 0}, {0, -1}, {1e-3, 1e3}};

Tensor tensor(const std::vector<Number>& z) {
  return Tensor::from_bytes(DType::c128, {static_cast<int64_t>(z.size())}, z.data());
}
std::vector<Number> numbers(const Tensor& t) {
  const Number* p = static_cast<const Number*>(t.data());
  return {p, p + t.shape().elements()};
}

void expect_near(const Tensor& got, const std::vector<Number>& want, double tolerance = 1e-14) {
  ASSERT_EQ(got.dtype(), DType::c128);
  const std::vector<Number> have = numbers(got);
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(std::abs(have[i] - want[i]), tolerance * std::abs(want[i]))
        << i << ": " << have[i] << " " << want[i];
  }
}

template <class F>
std::vector<Number> each(const F& f) {
  std::vector<Number> out;
  for (const Number& z : kSome) out.push_back(f(z));
  return out;
}

TEST(Complex, FunctionsAreTheCLibrarys) {
  const Tensor z = tensor(kSome);
  expect_near(log(z), each([](Number x) { return std::log(x); }));
  expect_near(sqrt(z), each([](Number x) { return std::sqrt(x); }));
  expect_near(reciprocal(z), each([](Number x) { return 1.0 / x; }));
  expect_near(square(z), each([](Number x) { return x * x; }));
  expect_near(conj(z), each([](Number x) { return std::conj(x); }));
  expect_near(negative(z), each([](Number x) { return -x; }));
  const Tensor small = z / 500.0;  // where e^|z| is no larger than what else is rounded
  std::vector<Number> want;
  const auto expect_small = [&](const Tensor& got, Number (*f)(const Number&)) {
    want.clear();
    for (const Number& x : kSome) want.push_back(f(x / 500.0));
    expect_near(got, want, 1e-13);
  };
  expect_small(exp(small), std::exp);
  expect_small(sin(small), std::sin);
  expect_small(cos(small), std::cos);
  expect_small(tan(small), std::tan);
  expect_small(sinh(small), std::sinh);
  expect_small(cosh(small), std::cosh);
  expect_small(tanh(small), std::tanh);
}

TEST(Complex, ArithmeticIsTheCLibrarys) {
  const std::vector<Number> other = {{2, -1}, {1, 1}, {-3, 0.5}, {0.1, 0.2}, {-1, -1}, {1, 7}, {2, 0}};
  const Tensor a = tensor(kSome), b = tensor(other);
  std::vector<Number> sum_of, product, quotient, power_of;
  for (size_t i = 0; i < other.size(); ++i) {
    sum_of.push_back(kSome[i] + other[i]);
    product.push_back(kSome[i] * other[i]);
    quotient.push_back(kSome[i] / other[i]);
    power_of.push_back(std::pow(kSome[i], other[i]));
  }
  expect_near(a + b, sum_of);
  expect_near(a * b, product);
  expect_near(a / b, quotient);
  expect_near(power(a, b), power_of, 1e-12);
}

TEST(Complex, DividesWithoutOverflow) {
  const Tensor z = tensor({{1e300, 1e300}});
  expect_near(z / z, {{1, 0}});
  EXPECT_NEAR(absolute(z).item() / (std::sqrt(2) * 1e300), 1, 1e-15);
}

TEST(Complex, HasPartsAndCasts) {
  const Tensor z = tensor(kSome);
  EXPECT_EQ(real(z).dtype(), DType::f64);
  for (size_t i = 0; i < kSome.size(); ++i) {
    EXPECT_EQ(real(z).data<double>()[i], kSome[i].real());
    EXPECT_EQ(imag(z).data<double>()[i], kSome[i].imag());
    EXPECT_NEAR(angle(z).data<double>()[i], std::arg(kSome[i]), 1e-15);
    EXPECT_NEAR(absolute(z).data<double>()[i], std::abs(kSome[i]), 1e-15 * std::abs(kSome[i]));
  }
  EXPECT_EQ(cast(z, DType::c64).dtype(), DType::c64);
  EXPECT_EQ(cast(z, DType::f32).data<float>()[1], -1);
  EXPECT_EQ(cast(cast(real(z), DType::f32), DType::c64).dtype(), DType::c64);
  EXPECT_EQ(cast(tensor({{0, 0}}), DType::boolean).data<bool>()[0], false);
  EXPECT_EQ(cast(tensor({{0, 1}}), DType::boolean).data<bool>()[0], true);
  EXPECT_EQ(imag(Tensor::full(DType::f32, {}, 3)).item(), 0);
  EXPECT_NEAR(angle(Tensor::full(DType::f64, {}, -3)).item(), M_PI, 1e-15);
}

TEST(Complex, ComparesSumsBroadcastsAndMultipliesMatrices) {
  const Tensor z = tensor(kSome);
  EXPECT_TRUE(all(equal(z, z)).data<bool>()[0]);
  EXPECT_FALSE(any(not_equal(z, z)).data<bool>()[0]);
  EXPECT_THROW(less(z, z), Error);
  EXPECT_THROW(floor(z), Error);
  Number total;
  for (const Number& x : kSome) total += x;
  expect_near(sum(z), {total});
  expect_near(sum(broadcast_to(z, {3, 7}), {0}), each([](Number x) { return 3.0 * x; }));
  const Tensor a = reshape(tensor({{1, 2}, {3, 4}, {5, 6}, {7, 8}}), Shape{2, 2});
  expect_near(matmul(a, a), {{-12, 42}, {-16, 62}, {-20, 98}, {-24, 150}});
  expect_near(where(equal(real(z), scalar_like(real(z), 1)), z, scalar_like(z, 0)),
              each([](Number x) { return x.real() == 1 ? x : Number(); }));
}

// Functions of the parts, so that differences can be taken.
TEST(Complex, HasGradientsByItsParts) {
  const std::vector<Tensor> at = {testing_gradients::noise({5}, 1), testing_gradients::noise({5}, 2, 0.2, 1)};
  const auto check = [&](const std::function<Tensor(const Tensor&)>& f) {
    expect_gradients(
        [&](const std::vector<Tensor>& in) {
          const Tensor z = f(complex(in[0], in[1]));
          return is_complex(z.dtype()) ? real(z) + imag(z) * 3.0 : z;
        },
        at);
  };
  check([](const Tensor& z) { return z * z / (z + scalar_like(z, 3)); });
  check([](const Tensor& z) { return exp(z) + log(z) + sqrt(z); });
  check([](const Tensor& z) { return tanh(z) + sin(z) + conj(z); });
  check([](const Tensor& z) { return absolute(z) * angle(z); });
  check([](const Tensor& z) { return broadcast_to(sum(z), {2}); });
  check([](const Tensor& z) { return matmul(reshape(z, Shape{1, 5}), reshape(z, Shape{5, 1})); });
}

TEST(Complex, GradientsByZArePairs) {
  Graph g;
  const Tensor z = g.input("z", DType::c128, {2});
  g.output("d", gradients(sum(square(absolute(z))), std::span(&z, 1))[0]);
  const Tensor at = tensor({{1, 2}, {3, -4}});
  expect_near(Program::compile(g)(std::span(&at, 1))[0], {{2, 4}, {6, -8}});
}

TEST(Complex, ChainsMeetInTheMiddle) {
  Graph g;
  const Tensor re = g.input("re", DType::f32, {4}), im = g.input("im", DType::f32, {4});
  const Tensor z = complex(re, im);
  g.output("y", real(z * z * z));
  EXPECT_EQ(Program::compile(g).text().find("concatenate"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll

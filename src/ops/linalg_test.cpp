// What follows from the factors, and what the sweep leaves out: full factors, matrices that have none.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/gradient_testing.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using testing_gradients::expect_gradients;
using testing_gradients::noise;

Tensor flipped(const Tensor& x) {
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}

double distance(const Tensor& a, const Tensor& b) { return max(absolute(a - b)).item(); }

Tensor identity(int64_t n) {
  return cast(equal(iota(DType::i32, {n, n}, 0), iota(DType::i32, {n, n}, 1)), DType::f64);
}

TEST(Solve, UndoesAProduct) {
  const Tensor a = noise({3, 6, 6}, 1), x = noise({3, 6, 2}, 2);
  EXPECT_LE(distance(solve(a, matmul(a, x)), x), 1e-12);
  EXPECT_LE(distance(matmul(inv(a), a), broadcast_to(identity(6), {3, 6, 6})), 1e-12);
  EXPECT_LE(distance(matmul(a, solve(a, noise({6, 2}, 3))), broadcast_to(noise({6, 2}, 3), {3, 6, 2})),
            1e-12);
  EXPECT_THROW(solve(a, noise({3, 5, 2}, 1)), Error);
  EXPECT_THROW(inv(noise({3, 5}, 1)), Error);
}

TEST(Solve, HasGradients) {
  expect_gradients([](const std::vector<Tensor>& in) { return solve(in[0], in[1]); },
                   {noise({2, 4, 4}, 5), noise({2, 4, 3}, 6)}, 1e-5);
  expect_gradients([](const std::vector<Tensor>& in) { return inv(in[0]); }, {noise({4, 4}, 5)}, 1e-5);
}

// 3 x 3 by the rule of Sarrus.
TEST(Det, IsThatOfSmallMatrices) {
  const Tensor a = noise({3, 3}, 8);
  const double* m = a.data<double>();
  const double want = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                      m[2] * (m[3] * m[7] - m[4] * m[6]);
  EXPECT_NEAR(det(a).item(), want, 1e-15);
  const std::vector<Tensor> both = slogdet(a);
  EXPECT_NEAR(both[0].item() * std::exp(both[1].item()), want, 1e-15);
  expect_gradients([](const std::vector<Tensor>& in) { return det(in[0]); }, {noise({2, 4, 4}, 9)}, 1e-5);
  expect_gradients([](const std::vector<Tensor>& in) { return slogdet(in[0])[1]; }, {noise({4, 4}, 9)}, 1e-5);
}

TEST(Svd, FullFactorsAreOrthogonal) {
  for (const Shape& shape : {Shape{6, 4}, Shape{4, 6}, Shape{1, 3}}) {
    const Tensor a = noise(shape, 3);
    const std::vector<Tensor> full = svd(a, true), some = svd(a);
    EXPECT_LE(distance(matmul(full[0], flipped(full[0])), identity(shape[0])), 1e-14);
    EXPECT_LE(distance(matmul(full[2], flipped(full[2])), identity(shape[1])), 1e-14);
    EXPECT_LE(distance(matmul(some[0] * expand_dims(some[1], -2), some[2]), a), 1e-14);
    EXPECT_LE(distance(full[1], some[1]), 1e-14);
  }
}

TEST(Linalg, MatricesWithoutFactorsGiveNaN) {
  const Tensor minus = -identity(3);
  EXPECT_TRUE(std::isnan(max(cholesky(minus)).item()));
  const Tensor holes = identity(3) * NAN;
  EXPECT_TRUE(std::isnan(max(eigh(holes)[0]).item()));
  EXPECT_TRUE(std::isnan(max(svd(holes)[1]).item()));
}

TEST(Linalg, OneBadMatrixLeavesTheOthers) {
  const Tensor a = concatenate(std::array{expand_dims(identity(2), 0), expand_dims(-identity(2), 0)}, 0);
  const Tensor l = cholesky(a);
  EXPECT_EQ(l.data<double>()[0], 1);
  EXPECT_TRUE(std::isnan(l.data<double>()[4]));
}

TEST(Linalg, HalvesAreComputedInFloat32) {
  const Tensor a = cast(identity(3) * 4.0, DType::bf16);
  EXPECT_EQ(cholesky(a).dtype(), DType::bf16);
  EXPECT_EQ(max(cholesky(a)).item(), 2);
  EXPECT_EQ(inv(a).dtype(), DType::bf16);
  EXPECT_EQ(qr(a)[0].dtype(), DType::bf16);
}

TEST(Linalg, RefusesWhatIsNoMatrix) {
  EXPECT_THROW(cholesky(noise({3}, 1)), Error);
  EXPECT_THROW(cholesky(noise({3, 4}, 1)), Error);
  EXPECT_THROW(svd(noise({0, 4}, 1)), Error);
  Graph g;
  const Tensor a = g.input("a", DType::f64, {5, 3});
  EXPECT_THROW(gradients(sum(qr(a, true)[1]), std::span(&a, 1)), Error);
  EXPECT_THROW(gradients(sum(svd(a, true)[0]), std::span(&a, 1)), Error);
}

TEST(Fft, OfTwoAxesUndoesItself) {
  const Tensor re = noise({2, 6, 5}, 1), im = noise({2, 6, 5}, 2);
  const std::vector<Tensor> there = fft2(re, im), back = ifft2(there[0], there[1]);
  EXPECT_LE(distance(back[0], re) + distance(back[1], im), 1e-14);
  EXPECT_NEAR(there[0].data<double>()[0], sum(slice(re, {0, 0, 0}, {1, 6, 5})).item(), 1e-14);
}

}  // namespace
}  // namespace plimsoll

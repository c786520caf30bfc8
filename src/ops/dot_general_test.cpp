#include <gtest/gtest.h>

#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/tensor.h"

namespace plimsoll {
namespace {

Tensor ramp(const Shape& shape) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 7) - 3;
  return Tensor::from<float>(v, shape);
}

float at(const Tensor& t, int64_t i) { return t.data<float>()[i]; }

TEST(Matmul, BroadcastsLeadingAxesAsNumpyDoes) {
  const Tensor a = ramp({2, 1, 3, 4}), b = ramp({5, 4, 6});
  const Tensor c = matmul(a, b);
  ASSERT_EQ(c.shape(), Shape({2, 5, 3, 6}));
  for (int64_t x = 0; x < 2; ++x)
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 6; ++j) {
          float sum = 0;
          for (int64_t p = 0; p < 4; ++p) sum += at(a, (x * 3 + i) * 4 + p) * at(b, (y * 4 + p) * 6 + j);
          ASSERT_EQ(at(c, ((x * 5 + y) * 3 + i) * 6 + j), sum);
        }
}

TEST(Matmul, VectorsCountAsARowOrAColumn) {
  const Tensor v = ramp({4}), m = ramp({4, 3});
  EXPECT_EQ(matmul(v, v).shape(), Shape({}));
  EXPECT_EQ(matmul(v, m).shape(), Shape({3}));
  EXPECT_EQ(matmul(ramp({3, 4}), v).shape(), Shape({3}));
  EXPECT_EQ(matmul(ramp({2, 3, 4}), v).shape(), Shape({2, 3}));
  EXPECT_EQ(matmul(v, v).item(), 9 + 4 + 1 + 0);
}

TEST(Matmul, OperandsMeetInOneDtype) {
  const Tensor c = matmul(ramp({2, 3}), Tensor::full(DType::i32, {3, 2}, 2));
  EXPECT_EQ(c.dtype(), DType::f32);
  EXPECT_EQ(at(c, 0), 2 * (-3 - 2 - 1));
}

template <class F>
void expect_invalid(F f, std::string_view part) {
  try {
    f();
    FAIL() << "expected an Error with " << part;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string_view(e.what()).find(part), std::string_view::npos) << e.what();
  }
}

TEST(Matmul, BadShapesSayWhatWasExpected) {
  expect_invalid([] { matmul(ramp({2, 3}), ramp({4, 2})); }, "(2, 3) and (4, 2)");
  expect_invalid([] { matmul(ramp({}), ramp({4})); }, "at least one axis");
  expect_invalid([] { matmul(ramp({2, 3, 4}), ramp({3, 4, 5})); }, "matmul");
}

TEST(DotGeneral, BadAxesSayWhatWasExpected) {
  expect_invalid([] { dot_general(ramp({2, 3}), ramp({4, 3}), {1}, {0}); }, "equal size, got 3 and 4");
  expect_invalid([] { dot_general(ramp({2, 3}), ramp({3, 3}), {1, 1}, {0, 1}); }, "twice");
  expect_invalid([] { dot_general(ramp({2, 3}), ramp({3, 3}), {1}, {}); }, "as many");
  expect_invalid([] { dot_general(ramp({2, 3}), ramp({3, 3}), {5}, {0}); }, "dot_general");
}

TEST(Dense, BadOperandsSayWhatWasExpected) {
  const Tensor x = ramp({2, 3}), bias = ramp({4});
  expect_invalid([&] { dense(x, ramp({2, 4}), bias); }, "(3, units)");
  expect_invalid([&] { dense(x, ramp({3, 4}), ramp({3})); }, "bias of shape (4,)");
  expect_invalid([&] { dense(x, ramp({3, 4}), bias, "swish"); }, "gelu_tanh or silu, got 'swish'");
}

}  // namespace
}  // namespace plimsoll

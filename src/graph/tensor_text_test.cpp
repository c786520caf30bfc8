// Tensors as text, as NumPy 2.4 prints the same arrays: print(str(np.array(...))).
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
namespace {

Tensor counting(int64_t count, double scale, const Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i) * static_cast<float>(scale));
  return Tensor::from<float>(values, shape);
}

TEST(TensorText, IsNumpys) {
  EXPECT_EQ(Tensor::of(3).str(), "3.0");
  EXPECT_EQ(Tensor::of({1, 2.5, -3}).str(), "[ 1.   2.5 -3. ]");
  EXPECT_EQ(Tensor::of({{0, 1}, {2.25, -10}}).str(), "[[  0.     1.  ]\n [  2.25 -10.  ]]");
  EXPECT_EQ(Tensor::of({1e-5, 1, 2}).str(), "[1.e-05 1.e+00 2.e+00]");
  EXPECT_EQ(Tensor::of({1e9, -1}).str(), "[ 1.e+09 -1.e+00]");
  EXPECT_EQ(Tensor::of({1000.5, 0.25}).str(), "[1.0005e+03 2.5000e-01]");
  EXPECT_EQ(Tensor::of({1.0 / 3, 2.0 / 3, 10}).str(), "[ 0.33333334  0.6666667  10.        ]");
  EXPECT_EQ(Tensor::of({1.0 / 3, 7e-3}, DType::f64).str(), "[0.33333333 0.007     ]");
  EXPECT_EQ(Tensor::of({1.23456789e-7, 5}, DType::f64).str(), "[1.23456789e-07 5.00000000e+00]");
  EXPECT_EQ(Tensor::of({1.5, INFINITY, NAN, -INFINITY}).str(), "[ 1.5  inf  nan -inf]");
  EXPECT_EQ(Tensor::of({{1, -20}, {300, 4}}, DType::i32).str(), "[[  1 -20]\n [300   4]]");
  EXPECT_EQ(Tensor::of({1, 0}, DType::boolean).str(), "[ True False]");
  EXPECT_EQ(Tensor::of({0, 255}, DType::u8).str(), "[  0 255]");
  EXPECT_EQ(Tensor::of({0.1, 2.5, 100}, DType::f16).str(), "[  0.1   2.5 100. ]");
  EXPECT_EQ(counting(8, 1, {2, 2, 2}).str(), "[[[0. 1.]\n  [2. 3.]]\n\n [[4. 5.]\n  [6. 7.]]]");
  EXPECT_EQ(Tensor::zeros(DType::f32, {2, 0}).str(), "[]");
}

TEST(TensorText, BreaksLinesAndLeavesOutWhereNumpyDoes) {
  EXPECT_EQ(counting(40, 1.5, {40}).str(),
            "[ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5\n"
            " 21.  22.5 24.  25.5 27.  28.5 30.  31.5 33.  34.5 36.  37.5 39.  40.5\n"
            " 42.  43.5 45.  46.5 48.  49.5 51.  52.5 54.  55.5 57.  58.5]");
  EXPECT_EQ(counting(1200, 1, {2, 600}).str(),
            "[[0.000e+00 1.000e+00 2.000e+00 ... 5.970e+02 5.980e+02 5.990e+02]\n"
            " [6.000e+02 6.010e+02 6.020e+02 ... 1.197e+03 1.198e+03 1.199e+03]]");
  EXPECT_EQ(counting(3000, 0.5, {300, 10}).str().substr(0, 75),
            "[[0.0000e+00 5.0000e-01 1.0000e+00 ... 3.5000e+00 4.0000e+00 4.5000e+00]\n [");
}

TEST(TensorText, GoesIntoStreams) {
  std::ostringstream out;
  Graph graph;
  out << Tensor::of({1, 2}) << " " << graph.input("x", DType::f32, {2, 3}) << " " << Tensor();
  EXPECT_EQ(out.str(), "[1. 2.] float32(2, 3) (no tensor)");
}

TEST(TensorOf, TakesListsOfEqualLengths) {
  EXPECT_EQ(Tensor::of({{1}, {2}, {3}}).shape(), (Shape{3, 1}));
  EXPECT_EQ(Tensor::of({{{1, 2}}}, DType::i64).type().str(), "int64(1, 1, 2)");
  EXPECT_THROW(Tensor::of({{1, 2}, {3}}), Error);
  EXPECT_THROW(Tensor::of({{1, 2}, 3}), Error);
  EXPECT_THROW(Tensor::of({1, {2}}), Error);
}

}  // namespace
}  // namespace plimsoll

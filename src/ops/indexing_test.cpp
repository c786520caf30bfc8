// x[...]: what NumPy gives for the same places.
#include <gtest/gtest.h>

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

const Tensor kTable = Tensor::of({{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}});

TEST(Indexing, IsNumpys) {
  const Tensor& x = kTable;
  EXPECT_EQ(x[1].str(), "[10. 11. 12. 13.]");
  EXPECT_EQ(x[-1].str(), "[20. 21. 22. 23.]");
  EXPECT_EQ((x[{1, 2}].item()), 12);
  EXPECT_EQ((x[{-1, -2}].item()), 22);
  EXPECT_EQ((x[{Slice{}, 0}].str()), "[ 0. 10. 20.]");
  EXPECT_EQ((x[{Ellipsis, -1}].str()), "[ 3. 13. 23.]");
  EXPECT_EQ((x[Slice{1, {}}].str()), "[[10. 11. 12. 13.]\n [20. 21. 22. 23.]]");
  EXPECT_EQ((x[{0, Slice{.step = 2}}].str()), "[0. 2.]");
  EXPECT_EQ((x[{0, Slice{.step = -1}}].str()), "[3. 2. 1. 0.]");
  EXPECT_EQ((x[{0, Slice{-1, 0, -2}}].str()), "[3. 1.]");
  EXPECT_EQ((x[{0, Slice{1, -1}}].str()), "[1. 2.]");
  EXPECT_EQ((x[{0, Slice{-100, 100}}].str()), "[0. 1. 2. 3.]");
  EXPECT_EQ((x[{0, Slice{100, -100, -3}}].str()), "[3. 0.]");
  EXPECT_EQ((x[Slice{2, 1}].shape()), (Shape{0, 4}));
  EXPECT_EQ((x[{NewAxis, Ellipsis, NewAxis}].shape()), (Shape{1, 3, 4, 1}));
  EXPECT_EQ((x[{Slice{}, NewAxis, 0}].shape()), (Shape{3, 1}));
}

TEST(Indexing, WorksOnValuesOfAGraph) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {3, 4});
  graph.output("y", x[{Slice{.step = -2}, Slice{1, 3}}] * 2.0);
  EXPECT_EQ(Program::compile(graph)(std::vector<Tensor>{kTable})[0].str(), "[[42. 44.]\n [ 2.  4.]]");
}

TEST(Indexing, RefusesPlacesThatAreNotThere) {
  EXPECT_THROW(kTable[3], Error);
  EXPECT_THROW(kTable[-4], Error);
  EXPECT_THROW((kTable[{0, 0, 0}]), Error);
  EXPECT_THROW((kTable[{Ellipsis, Ellipsis}]), Error);
  EXPECT_THROW((kTable[Slice{.step = 0}]), Error);
  EXPECT_THROW(Tensor()[0], Error);
}

}  // namespace
}  // namespace plimsoll

#include "plimsoll/shape.h"

#include <gtest/gtest.h>

#include <vector>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(Shape, CountsItsElements) {
  EXPECT_EQ(Shape().elements(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).elements(), 24);
  EXPECT_EQ((Shape{2, 0, 4}).elements(), 0);
}

TEST(Shape, RefusesWhatIsNoShape) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{kHuge, 4}), Error);
  const std::vector<int64_t> nine(9, 1);
  EXPECT_THROW(Shape(std::span<const int64_t>(nine)), Error);
}

TEST(Shape, AnEmptyAxisDoesNotExcuseTheOthers) {
  EXPECT_EQ((Shape{int64_t{1} << 56, 0, 1}).elements(), 0);
  EXPECT_THROW((Shape{kHuge, 0}), Error);
  EXPECT_THROW((Shape{kHuge, kHuge, 0}), Error);
}

TEST(Shape, AxesCountFromBothEnds) {
  const Shape s = {2, 3, 4};
  EXPECT_EQ(s.dim(-1), 4);
  EXPECT_EQ(s.dim(0), 2);
  EXPECT_THROW(s.dim(3), Error);
  EXPECT_THROW(s.dim(-4), Error);
  EXPECT_THROW(Shape().dim(0), Error);
}

TEST(Shape, ChangesOneAxis) {
  const Shape s = {2, 3, 4};
  EXPECT_EQ(s.with(-1, 7), (Shape{2, 3, 7}));
  EXPECT_EQ(s.without(1), (Shape{2, 4}));
  EXPECT_EQ(s.inserted(3, 9), (Shape{2, 3, 4, 9}));
  EXPECT_EQ(s.inserted(-1, 9), (Shape{2, 3, 4, 9}));
  EXPECT_EQ(s.inserted(0, 9), (Shape{9, 2, 3, 4}));
  EXPECT_THROW(s.inserted(5, 1), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1}).inserted(0, 1), Error);
}

TEST(Shape, PrintsAsPythonTuples) {
  EXPECT_EQ(Shape().str(), "()");
  EXPECT_EQ((Shape{5}).str(), "(5,)");
  EXPECT_EQ((Shape{32, 10}).str(), "(32, 10)");
}

TEST(Broadcast, FollowsNumPy) {
  EXPECT_EQ(broadcast({3, 1}, {4}, "t"), (Shape{3, 4}));
  EXPECT_EQ(broadcast({}, {2, 2}, "t"), (Shape{2, 2}));
  EXPECT_EQ(broadcast({1}, {0}, "t"), (Shape{0}));
  EXPECT_THROW(broadcast({3}, {4}, "t"), Error);
  EXPECT_THROW(broadcast({0}, {2}, "t"), Error);
}

TEST(ByteSize, IsCheckedAgainstOverflow) {
  EXPECT_EQ(byte_size(DType::f64, {3, 5}), 120);
  EXPECT_THROW(byte_size(DType::f64, Shape{kHuge}), Error);
  EXPECT_THROW(checked_mul(kHuge, 2, "t"), Error);
}

}  // namespace
}  // namespace plimsoll

#include "device/cpu/strided_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace plimsoll {
namespace {

// Every permutation of the axes of `shape`, against an element-by-element copy.
template <class T>
void check_permutations(const Shape& shape, int threads) {
  std::vector<T> from(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 7 + 1);
  std::vector<int> order(static_cast<size_t>(shape.rank()));
  std::iota(order.begin(), order.end(), 0);
  const StridedCopy::Strides source = row_major(shape);
  do {
    std::vector<int64_t> sizes;
    StridedCopy::Strides strides{};
    for (size_t i = 0; i < order.size(); ++i) {
      sizes.push_back(shape[order[i]]);
      strides[i] = source[static_cast<size_t>(order[i])];
    }
    const Shape box{std::span<const int64_t>(sizes)};
    std::vector<T> to(from.size());
    StridedCopy(box, row_major(box), strides, sizeof(T), threads).run(to.data(), from.data());
    for (int64_t i = 0; i < box.elements(); ++i) {
      int64_t rest = i, at = 0;
      for (int d = box.rank() - 1; d >= 0; --d) {
        at += rest % box[d] * strides[static_cast<size_t>(d)];
        rest /= box[d];
      }
      ASSERT_EQ(to[static_cast<size_t>(i)], from[static_cast<size_t>(at)]) << box.str() << " at " << i;
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(StridedCopy, PermutesAxesOfEveryWidth) {
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{37, 41}, Shape{9, 10, 11}, Shape{3, 1, 8, 33},
                             Shape{2, 3, 4, 5, 6}, Shape{0, 4}}) {
    check_permutations<uint8_t>(shape, 1);
    check_permutations<uint16_t>(shape, 2);
    check_permutations<uint32_t>(shape, 2);
    check_permutations<uint64_t>(shape, 1);
  }
  check_permutations<uint32_t>(Shape{300, 513}, 2);
}

TEST(StridedCopy, RunsBackwardsAndSkips) {
  const std::vector<int32_t> from = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int32_t> to(3, -1);
  StridedCopy(Shape{3}, {1}, {-4}, 4, 1).run(to.data(), from.data() + 8);
  EXPECT_EQ(to, (std::vector<int32_t>{8, 4, 0}));
}

}  // namespace
}  // namespace plimsoll

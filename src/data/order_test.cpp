#include "data/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "data/mix.h"
#include "data/permutation.h"

namespace plimsoll::data {
namespace {

std::vector<int64_t> all_of(const Permutation& p) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < p.size(); ++i) values.push_back(p[i]);
  return values;
}

TEST(Permutation, HitsEveryNumberOnce) {
  for (const int64_t n : {1, 2, 3, 4, 5, 9, 10, 16, 17, 100, 1023, 1024, 1025, 60000}) {
    std::vector<int64_t> values = all_of(Permutation(n, 77));
    std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], i) << n;
  }
}

TEST(Permutation, OfHugeRangesStaysInside) {
  for (const int64_t n : {int64_t{1} << 40, (int64_t{1} << 62) + 1, INT64_MAX}) {
    const Permutation p(n, 3);
    for (int64_t i = 0; i < 1000; ++i) {
      const int64_t value = p[n - 1 - i];
      EXPECT_GE(value, 0);
      EXPECT_LT(value, n);
    }
  }
}

// Chi-square of all n! orders; the bound is the mean plus six standard deviations.
TEST(Permutation, SmallOnesAreUniform) {
  for (const int64_t n : {2, 3, 4, 5}) {
    std::map<std::vector<int64_t>, int> counts;
    const int rounds = 24000;
    for (int key = 0; key < rounds; ++key) ++counts[all_of(Permutation(n, mix(static_cast<uint64_t>(key))))];
    int64_t orders = 1;
    for (int64_t i = 2; i <= n; ++i) orders *= i;
    const double expected = static_cast<double>(rounds) / static_cast<double>(orders);
    double chi = (static_cast<double>(orders) - static_cast<double>(counts.size())) * expected;
    for (const auto& [order, count] : counts) chi += (count - expected) * (count - expected) / expected;
    const auto degrees = static_cast<double>(orders - 1);
    EXPECT_LT(chi, degrees + 6 * std::sqrt(2 * degrees)) << n;
  }
}

// Where each of n places sends its element, over many keys, in 16 bins; and how often neighbours stay
// neighbours.
TEST(Permutation, LargerOnesScatter) {
  const int64_t n = 1000;
  std::vector<int> bins(16);
  int neighbours = 0;
  const int rounds = 2000;
  for (int key = 0; key < rounds; ++key) {
    const Permutation p(n, mix(static_cast<uint64_t>(key)));
    ++bins[static_cast<size_t>(p[7] * 16 / n)];
    neighbours += std::abs(p[500] - p[501]) == 1;
  }
  for (const int count : bins) EXPECT_NEAR(count, rounds / 16.0, 6 * std::sqrt(rounds / 16.0));
  EXPECT_LT(neighbours, 20);  // 4 expected
}

TEST(Windowed, HitsEveryNumberOnceAndStaysInWindows) {
  for (const auto& [records, width] :
       {std::pair<int64_t, int64_t>{100, 7}, {100, 50}, {101, 100}, {10, 1}, {64, 8}}) {
    const int64_t n = records;  // clang 14 captures no structured binding
    const int64_t window = width;
    std::vector<int64_t> values;
    for (int64_t i = 0; i < n; ++i) values.push_back(windowed(n, window, 9, i));
    for (int64_t start = 0; start + window <= n; start += window) {  // consecutive records, cyclically
      const std::set<int64_t> part(values.begin() + start, values.begin() + start + window);
      const auto ends =
          std::count_if(part.begin(), part.end(), [&](int64_t v) { return !part.contains((v + 1) % n); });
      EXPECT_EQ(ends, 1);
    }
    std::sort(values.begin(), values.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], i);
  }
}

}  // namespace
}  // namespace plimsoll::data

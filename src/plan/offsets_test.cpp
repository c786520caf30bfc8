#include "plan/offsets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

bool alive_together(const OffsetItem& a, const OffsetItem& b) {
  return a.first <= b.last && b.first <= a.last;
}

void expect_sound(std::span<const OffsetItem> items, const Offsets& result) {
  ASSERT_EQ(result.at.size(), items.size());
  EXPECT_EQ(result.total % kOffsetAlignment, 0);
  EXPECT_GE(result.total, live_bytes_bound(items));
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(result.at[i] % kOffsetAlignment, 0);
    EXPECT_GE(result.at[i], 0);
    EXPECT_LE(result.at[i] + items[i].bytes, result.total);
    for (size_t k = 0; k < i; ++k) {
      if (items[i].bytes == 0 || items[k].bytes == 0 || !alive_together(items[i], items[k])) continue;
      const bool apart =
          result.at[i] + items[i].bytes <= result.at[k] || result.at[k] + items[k].bytes <= result.at[i];
      ASSERT_TRUE(apart) << "items " << k << " and " << i;
    }
  }
}

std::vector<OffsetItem> random_items(std::mt19937& random, int count, int steps, int64_t most_bytes) {
  std::vector<OffsetItem> items;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
    const int length = static_cast<int>(random() % static_cast<unsigned>(random() % 4 == 0 ? steps : 4));
    items.push_back({static_cast<int64_t>(random() % static_cast<unsigned>(most_bytes)), first,
                     std::min(steps - 1, first + length)});
  }
  return items;
}

// The least total, by trying every order: some order in which each item takes the lowest place that is free
// yields it, as an optimal assignment pushed down shows.
int64_t optimum(std::span<const OffsetItem> items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> at(items.size(), -1);
    int64_t total = 0;
    for (const size_t i : order) {
      at[i] = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t k = 0; k < items.size(); ++k) {
          if (k == i || at[k] < 0 || !alive_together(items[i], items[k])) continue;
          const int64_t end = at[k] + items[k].bytes;
          if (at[i] < end && at[k] < at[i] + items[i].bytes) {
            at[i] = end;
            moved = true;
          }
        }
      }
      total = std::max(total, at[i] + items[i].bytes);
    }
    best = std::min(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Offsets, LiveItemsNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const auto items = random_items(random, 1 + round % 40, 1 + round % 25, 1 + round % 5000);
    expect_sound(items, assign_offsets(items));
    if (HasFatalFailure()) return;
  }
}

TEST(Offsets, TinyCasesAreCloseToTheOptimum) {
  std::mt19937 random(2);
  int met = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    auto items = random_items(random, 2 + round % 5, 6, 8);
    for (OffsetItem& item : items) item.bytes = (item.bytes + 1) * kOffsetAlignment;
    const int64_t best = optimum(items);
    const int64_t got = assign_offsets(items).total;
    ASSERT_GE(got, best);
    EXPECT_LE(got, best * 3 / 2);
    met += got == best;
  }
  EXPECT_GE(met, kRounds * 95 / 100);
}

TEST(Offsets, AHundredItemsNeedLittleMoreThanTheMostThatIsAlive) {
  std::mt19937 random(3);
  constexpr int kRounds = 100;
  double above = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto items = random_items(random, 100, 50, 5000);
    const auto bound = static_cast<double>(live_bytes_bound(items));
    above += static_cast<double>(assign_offsets(items).total) / bound - 1;
  }
  EXPECT_LT(above / kRounds, 0.015);
}

TEST(Offsets, AChainNeedsTwoBuffers) {
  std::vector<OffsetItem> items;
  for (int i = 0; i < 100; ++i) items.push_back({1000, i, i + 1});
  EXPECT_EQ(assign_offsets(items).total, 2 * 1024);
  EXPECT_EQ(live_bytes_bound(items), 2 * 1024);
}

TEST(Offsets, AGapIsFilledByWhatFitsItBest) {
  // Long items leave gaps of 128 and 64 bytes in the step where the small one lives.
  const std::vector<OffsetItem> items = {{512, 0, 9}, {128, 0, 3}, {512, 0, 9},
                                         {64, 0, 3},  {512, 0, 9}, {64, 5, 6}};
  const Offsets result = assign_offsets(items);
  expect_sound(items, result);
  EXPECT_EQ(result.total, live_bytes_bound(items));
}

TEST(Offsets, NothingNeedsNothing) {
  EXPECT_EQ(assign_offsets({}).total, 0);
  const std::vector<OffsetItem> empty = {{0, 0, 5}, {0, 2, 3}};
  EXPECT_EQ(assign_offsets(empty).total, 0);
}

TEST(Offsets, RefusesSizesThatOverflow) {
  const std::vector<OffsetItem> huge = {{INT64_MAX / 2, 0, 1}, {INT64_MAX / 2, 2, 3}, {INT64_MAX / 2, 4, 5}};
  EXPECT_THROW(assign_offsets(huge), Error);
  const std::vector<OffsetItem> one = {{INT64_MAX, 0, 1}};
  EXPECT_THROW(assign_offsets(one), Error);
  const std::vector<OffsetItem> negative = {{-1, 0, 1}};
  EXPECT_THROW(assign_offsets(negative), Error);
}

TEST(Offsets, ATrainingStepMeetsItsBound) {
  // Forward values live until their backward step, gradients for two steps.
  std::vector<OffsetItem> items;
  constexpr int kLayers = 500;
  for (int i = 0; i < kLayers; ++i) {
    const int64_t bytes = 4096 * (1 + (i * 7) % 13);
    items.push_back({bytes, i, 2 * kLayers - i});
    items.push_back({bytes, 2 * kLayers - i, 2 * kLayers - i + 1});
  }
  const Offsets result = assign_offsets(items);
  expect_sound(items, result);
  EXPECT_LE(result.total, live_bytes_bound(items) * 101 / 100);
}

}  // namespace
}  // namespace plimsoll

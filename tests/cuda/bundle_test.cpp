// Nodes that run together touch no bytes that one of them writes, and all others keep their order.
#include "bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace plimsoll::cuda {
namespace {

TEST(Bundles, WhateverTouchesTheSameBytesKeepsItsOrder) {
  std::mt19937 random(1);
  size_t joined = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<Access>> accesses(60);
    std::vector<std::string> keys;
    for (auto& list : accesses) {
      for (unsigned i = 0; i < 1 + random() % 3; ++i) {
        const CUdeviceptr begin = random() % 200;
        list.push_back({begin, begin + 1 + random() % 4, random() % 3 == 0});
      }
      keys.push_back(random() % 4 == 0 ? "" : random() % 2 == 0 ? "a" : "b");
    }
    const std::vector<size_t> most(accesses.size(), 5);
    const auto units = make_bundles(accesses, keys, most);
    std::vector<size_t> unit_of(accesses.size(), accesses.size());
    for (size_t u = 0; u < units.size(); ++u) {
      EXPECT_LE(units[u].size(), 5u);
      for (const size_t n : units[u]) {
        EXPECT_EQ(unit_of[n], accesses.size());
        unit_of[n] = u;
        EXPECT_EQ(keys[n], keys[units[u][0]]);
        EXPECT_TRUE(units[u].size() == 1 || !keys[n].empty());
      }
      joined += units[u].size() - 1;
    }
    for (size_t n = 0; n < accesses.size(); ++n) {
      ASSERT_LT(unit_of[n], units.size());
      for (size_t m = 0; m < n; ++m) {
        if (!conflict(accesses[n], accesses[m])) continue;
        ASSERT_LT(unit_of[m], unit_of[n]) << m << " and " << n;
      }
    }
  }
  EXPECT_GT(joined, 1000u);
}

TEST(Bundles, AllThatShareNothingRunTogether) {
  std::vector<std::vector<Access>> accesses;
  for (CUdeviceptr i = 0; i < 8; ++i) accesses.push_back({{10 * i, 10 * i + 5, true}});
  const std::vector<std::string> keys(8, "key");
  EXPECT_EQ(make_bundles(accesses, keys, std::vector<size_t>(8, 60)).size(), 1u);
  EXPECT_EQ(make_bundles(accesses, keys, std::vector<size_t>(8, 3)).size(), 3u);
}

}  // namespace
}  // namespace plimsoll::cuda

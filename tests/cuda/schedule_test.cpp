// Whatever two nodes of a schedule do to the same bytes, they do in the order of the plan.
#include "schedule.h"

#include <gtest/gtest.h>

#include <random>

namespace plimsoll::cuda {
namespace {

bool meet(const Access& a, const Access& b) {
  return (a.written || b.written) && a.begin < b.end && b.begin < a.end;
}

// Nodes that have run before each node begins: those before it on its stream, those it waits for, and theirs.
std::vector<std::vector<bool>> before(const std::vector<Slot>& slots) {
  std::vector<std::vector<bool>> done(slots.size(), std::vector<bool>(slots.size(), false));
  std::vector<int> last(kStreams, -1);
  for (size_t n = 0; n < slots.size(); ++n) {
    std::vector<size_t> direct = slots[n].waits;
    if (last[slots[n].stream] >= 0) direct.push_back(static_cast<size_t>(last[slots[n].stream]));
    for (const size_t m : direct) {
      done[n][m] = true;
      for (size_t k = 0; k < m; ++k) done[n][k] = done[n][k] || done[m][k];
    }
    last[slots[n].stream] = static_cast<int>(n);
  }
  return done;
}

TEST(Schedule, NodesThatTouchTheSameBytesKeepTheirOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<Access>> accesses(40);
    for (auto& list : accesses)
      for (unsigned i = 0; i < 1 + random() % 4; ++i) {
        const CUdeviceptr begin = random() % 60;
        list.push_back({begin, begin + 1 + random() % 4, random() % 3 == 0});
      }
    const std::vector<Slot> slots = make_schedule(accesses);
    const auto done = before(slots);
    for (size_t n = 0; n < slots.size(); ++n) {
      for (size_t m = 0; m < n; ++m)
        for (const Access& a : accesses[n])
          for (const Access& b : accesses[m])
            ASSERT_TRUE(done[n][m] || !meet(a, b)) << "node " << n << " does not wait for " << m;
      for (const size_t m : slots[n].waits) EXPECT_TRUE(slots[m].recorded);
    }
  }
}

TEST(Schedule, NodesThatShareNothingTakeSeveralStreams) {
  std::vector<std::vector<Access>> accesses;
  for (CUdeviceptr i = 0; i < 8; ++i) accesses.push_back({{10 * i, 10 * i + 5, true}});
  std::vector<bool> used(kStreams, false);
  for (const Slot& slot : make_schedule(accesses)) {
    used[slot.stream] = true;
    EXPECT_TRUE(slot.waits.empty());
  }
  EXPECT_EQ(used, std::vector<bool>(kStreams, true));
}

TEST(Schedule, AChainStaysOnOneStream) {
  std::vector<std::vector<Access>> accesses;
  for (CUdeviceptr i = 0; i < 8; ++i) accesses.push_back({{i, i + 1, false}, {i + 1, i + 2, true}});
  for (const Slot& slot : make_schedule(accesses)) EXPECT_EQ(slot.stream, 0u);
}

}  // namespace
}  // namespace plimsoll::cuda

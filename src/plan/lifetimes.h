// Lifetimes: for one order of nodes, the blocks of bytes that values need and the steps each is alive. Values
// share a block if one takes over the bytes of the other in place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/dataflow.h"
#include "plan/order.h"

namespace plimsoll {

struct Block {
  int64_t bytes = 0;
  int32_t first = 0;    // step
  int32_t last = 0;     // the number of steps stands for "after the last one"
  ValueId holds = 0;    // the root that has the bytes when the block dies
  int32_t output = -1;  // the graph output whose bytes these are; -1: in the arena
};

struct Lifetimes {
  static constexpr uint32_t kNoBlock = 0xFFFFFFFFu;
  std::vector<Block> blocks;
  std::vector<uint32_t> block_of;  // by root; kNoBlock: its place is fixed, or nothing makes it
};

// reuse: outputs take over bytes of inputs that die.
Lifetimes find_lifetimes(const Dataflow& flow, std::span<const Dataflow::Run> order, bool reuse);

}  // namespace plimsoll

#include "plan/lifetimes.h"

#include <algorithm>

namespace plimsoll {
namespace {

using Run = Dataflow::Run;

class Finder {
 public:
  Finder(const Dataflow& flow, std::span<const Run> order, bool reuse)
      : flow_(flow), order_(order), reuse_(reuse), step_of_(order.size()) {
    for (size_t step = 0; step < order.size(); ++step) step_of_[order[step]] = static_cast<int32_t>(step);
    found_.block_of.assign(flow.graph().values().size(), Lifetimes::kNoBlock);
  }

  Lifetimes find() {
    for (size_t step = 0; step < order_.size(); ++step) {
      taken_.clear();
      const Node& node = flow_.node(order_[step]);
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        if (flow_.fixed(node.outputs[k]).kind == Place::Kind::none) place(static_cast<int32_t>(step), k);
      }
    }
    place_outputs();
    return std::move(found_);
  }

 private:
  int32_t end() const { return static_cast<int32_t>(order_.size()); }

  int32_t last_use(ValueId root, int32_t made) const {
    if (flow_.read_at_end(root)) return end();
    int32_t last = made;
    for (const Run reader : flow_.readers(root)) last = std::max(last, step_of_[reader]);
    return last;
  }

  void place(int32_t step, size_t out) {
    const ValueId v = flow_.node(order_[static_cast<size_t>(step)]).outputs[out];
    uint32_t block = reuse_ ? block_to_take_over(step, out) : Lifetimes::kNoBlock;
    if (block == Lifetimes::kNoBlock) {
      block = static_cast<uint32_t>(found_.blocks.size());
      found_.blocks.push_back({.bytes = flow_.bytes(v), .first = step});
    } else {
      taken_.push_back(block);
    }
    found_.blocks[block].last = last_use(v, step);
    found_.blocks[block].holds = v;
    found_.block_of[v] = block;
  }

  // The smallest block that dies at this step and whose bytes the output may take over.
  uint32_t block_to_take_over(int32_t step, size_t out) const {
    const Run r = order_[static_cast<size_t>(step)];
    const Node& node = flow_.node(r);
    const uint64_t mask = flow_.in_place(r, out);
    const ValueId v = node.outputs[out];
    uint32_t best = Lifetimes::kNoBlock;
    for (size_t i = 0; i < std::min<size_t>(node.inputs.size(), 64); ++i) {
      const uint32_t block = found_.block_of[flow_.root(node.inputs[i])];
      if ((mask >> i & 1) == 0 || block == Lifetimes::kNoBlock || !dies_here(block, step, node, mask))
        continue;
      const int64_t bytes = found_.blocks[block].bytes;
      // A value that is an output should lie in the output's bytes, which must then be the whole block.
      if (bytes < flow_.bytes(v) || (flow_.read_at_end(v) && bytes != flow_.bytes(v))) continue;
      if (best == Lifetimes::kNoBlock || bytes < found_.blocks[best].bytes) best = block;
    }
    return best;
  }

  // The same bytes may be read through several inputs: the op must allow it for all of them.
  bool dies_here(uint32_t block, int32_t step, const Node& node, uint64_t mask) const {
    if (found_.blocks[block].last != step || std::find(taken_.begin(), taken_.end(), block) != taken_.end())
      return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool same = found_.block_of[flow_.root(node.inputs[i])] == block;
      if (same && (i >= 64 || (mask >> i & 1) == 0)) return false;
    }
    return true;
  }

  void place_outputs() {
    const std::vector<GraphOutput>& outputs = flow_.graph().outputs();
    for (size_t k = 0; k < outputs.size(); ++k) {
      const uint32_t block = found_.block_of[flow_.root(outputs[k].value)];
      if (block == Lifetimes::kNoBlock || found_.blocks[block].output >= 0) continue;
      if (found_.blocks[block].bytes == flow_.bytes(outputs[k].value)) {
        found_.blocks[block].output = static_cast<int32_t>(k);
      }
    }
  }

  const Dataflow& flow_;
  std::span<const Run> order_;
  bool reuse_;
  std::vector<int32_t> step_of_;  // by run
  Lifetimes found_;
  std::vector<uint32_t> taken_;  // blocks that an output of the present step has taken over
};

}  // namespace

Lifetimes find_lifetimes(const Dataflow& flow, std::span<const Run> order, bool reuse) {
  return Finder(flow, order, reuse).find();
}

}  // namespace plimsoll

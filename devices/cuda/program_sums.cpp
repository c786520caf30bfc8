// A product and a sum with it as one call of cuBLASLt, which can add as it writes.
#include "program.h"

using namespace plimsoll;
using namespace plimsoll::cuda;

// x + (a product that nobody else reads).
void plimsoll_program::find_sum(const Node& node, Build& build, int32_t index) {
  Code& code = code_[static_cast<size_t>(index)];
  if (node.op() != "add" || node.in(0).sizes != node.in(1).sizes) return;
  for (size_t k = 0; k < 2 && code.both == nullptr; ++k) {
    const auto value = static_cast<size_t>(node.input(k));
    if (producers_[value] < 0 || readers_[value] != 1) continue;
    const Code& product = code_[static_cast<size_t>(producers_[value])];
    if (product.steps.size() != 1) continue;
    code.both = product.steps.front()->adding(build, build.out(0), build.in(1 - k));
    code.product = producers_[value];
  }
}

// The order without the products whose sums run as one step: where what a product reads is still there when
// the sum runs, and is not what the sum writes.
std::vector<int32_t> plimsoll_program::join_sums(std::span<const int32_t> order, CUdeviceptr arena) {
  std::vector<size_t> at(code_.size(), order.size());
  for (size_t i = 0; i < order.size(); ++i) at[static_cast<size_t>(order[i])] = i;
  std::vector<bool> gone(code_.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    Code& sum = code_[static_cast<size_t>(order[i])];
    if (sum.both == nullptr) continue;
    const size_t begin = at[static_cast<size_t>(sum.product)];
    std::vector<Code::Use> reads = code_[static_cast<size_t>(sum.product)].uses;
    std::erase_if(reads, [](const Code::Use& use) { return use.written; });
    std::vector<Access> accesses;
    for (const Code::Use& use : reads) {
      const CUdeviceptr from = values_[static_cast<size_t>(use.value)];
      accesses.push_back({from, from + static_cast<CUdeviceptr>(use.bytes), false});
    }
    bool intact = begin < i && !steady_.nodes[static_cast<size_t>(order[i])] &&
                  !steady_.nodes[static_cast<size_t>(sum.product)];
    for (size_t n = begin + 1; n <= i && intact; ++n)
      intact = !conflict(accesses, accesses_of(order[n], arena));
    if (!intact) {
      sum.both = nullptr;
      continue;
    }
    gone[static_cast<size_t>(sum.product)] = true;
    sum.uses.insert(sum.uses.end(), reads.begin(), reads.end());
  }
  std::vector<int32_t> left;
  for (const int32_t node : order)
    if (!gone[static_cast<size_t>(node)]) left.push_back(node);
  return left;
}

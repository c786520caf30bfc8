#include "op_sweep/kernel_cases.h"

#include <algorithm>
#include <string>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::testing {
namespace {

// Element-wise ops: rows of several tiles and a rest, for every dtype and every tile the attributes choose.
void add_tiles(KernelCases& cases) {
  const OpDef& op = cases.op();
  if (op.tile == nullptr) return;
  const std::vector<DType> dtypes(op.dtypes.begin(), op.dtypes.end());
  std::vector<Attrs> seen;
  for (const OpCase& declared : op.cases()) {
    if (std::find(seen.begin(), seen.end(), declared.attrs) != seen.end()) continue;
    seen.push_back(declared.attrs);
    std::vector<InputCase> in = declared.in;
    for (InputCase& one : in) one.shape = {3, 5003};
    cases.add(in, declared.attrs, dtypes);
    if (in.size() < 2) continue;
    in[0].shape = {5003};  // the same row again
    in[1].shape = {3, 1};  // one element for a row
    cases.add(in, declared.attrs, {dtypes.front(), dtypes.back()});
  }
}

}  // namespace

void KernelCases::add(std::vector<InputCase> in, Attrs attrs, std::vector<DType> dtypes) {
  const bool open = std::any_of(in.begin(), in.end(), [](const InputCase& i) { return !i.dtype; });
  for (const DType dtype : dtypes) {
    if (open && !op_.dtypes.empty() &&
        std::find(op_.dtypes.begin(), op_.dtypes.end(), dtype) == op_.dtypes.end())
      continue;
    list_.push_back(whole_case(op_, {.in = in, .attrs = attrs}, dtype));
  }
}

std::vector<SweepCase> kernel_cases(const OpDef& op) {
  KernelCases cases(op);
  add_tiles(cases);
  add_convolutions(cases);
  add_contractions(cases);
  add_layers(cases);
  add_moves(cases);
  add_bodies(cases);
  std::vector<SweepCase> list = cases.take();
  if (sweep_share() > 1) {
    constexpr double kMostFlops = 4e7;
    std::erase_if(list, [&](const SweepCase& c) {
      return cost_of({op, types_of(c), c.attrs}, c.out).flops > kMostFlops;
    });
  }
  return list;
}

}  // namespace plimsoll::testing

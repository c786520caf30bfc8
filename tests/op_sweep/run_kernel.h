// One kernel called directly, as a Program would call it.
#pragma once

#include <string>
#include <vector>

#include "device/kernel.h"
#include "op_sweep/cases.h"

namespace plimsoll::testing {

struct KernelRun {
  std::vector<Tensor> out;  // empty: the kernel does not fit
  std::string name;         // what the kernel calls itself
};

// Outputs and scratch start as 0xFF: a kernel may not rely on what is there, nor write past their ends.
// Throws what the kernel throws, and std::runtime_error for a byte past an end.
KernelRun run_kernel(const KernelDef& def, const SweepCase& c, const std::vector<Tensor>& inputs,
                     int threads);
// The same for the op's tile (OpDef::tile).
KernelRun run_tile(const SweepCase& c, const std::vector<Tensor>& inputs, int threads);

}  // namespace plimsoll::testing

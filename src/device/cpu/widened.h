// Kernels for float16 and bfloat16 made from kernels for float32, where there is none of their own: slice by
// slice along the first axis the inputs are widened into scratch, the kernel runs there, its outputs are
// rounded once. Types other than the two pass through untouched.
#pragma once

#include "device/kernel.h"

namespace plimsoll {

bool is_half(DType type);
// True if any input or output is float16 or bfloat16.
bool needs_widening(const KernelQuery& q);

// How a kernel's work falls apart along the first axis of some of its arguments. Slices depend on the shapes
// alone.
struct Slices {
  int64_t length = 1;        // of the axis
  uint32_t in = 0, out = 0;  // bit i: argument i has the axis. Inputs without it are the same for all slices,
                             // outputs without it are sums over all, added up in float32 (or their own type)
};

using Prepare = Kernel (*)(const KernelQuery& q);
// prepare(q), or where q has halves, a kernel around prepare(slices of q with float32 in their place).
Kernel prepare_widened(const KernelQuery& q, Prepare prepare, const Slices& slices = {});
// prepare(q), or prepare_widened() where that throws Error{unsupported}.
Kernel native_or_widened(const KernelQuery& q, Prepare prepare, const Slices& slices);

}  // namespace plimsoll

// Kernels for float16 and bfloat16 made from kernels for float32: the inputs are widened into scratch, the
// kernel runs there, its outputs are rounded once. Types other than the two pass through untouched.
#pragma once

#include "device/kernel.h"

namespace plimsoll {

bool is_half(DType type);
// True if any input or output is float16 or bfloat16.
bool needs_widening(const KernelQuery& q);

using Prepare = Kernel (*)(const KernelQuery& q);
// prepare(q), or where q has halves, a kernel around prepare(q with float32 in their place).
Kernel prepare_widened(const KernelQuery& q, Prepare prepare);

}  // namespace plimsoll

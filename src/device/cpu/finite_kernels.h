// Whether all numbers are finite, in one pass over them. Safe to call from any thread.
#pragma once

#include <cstdint>

#include "plimsoll/dtype.h"

namespace plimsoll {

// Requires: a float type that is not complex.
bool all_finite(DType dtype, const void* x, int64_t n, int threads);

}  // namespace plimsoll

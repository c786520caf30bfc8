// The engine's own instructions, for the CPU it runs on: folds and conversions of half precision.
#pragma once

#include <cstddef>

#include "device/cpu/tile.h"

namespace plimsoll {

// Folding sums and products of floats happens in f64, everything else in the type itself.
struct FoldFns {
  void (*run)(const void* x, size_t n, void* acc);        // acc[0] = fold of acc[0] and x[0..n)
  void (*columns)(const void* x, size_t n, void* acc);    // acc[i] = fold of acc[i] and x[i]
  void (*merge)(const void* other, size_t n, void* acc);  // the same with x of the type of acc
  void (*start)(void* acc, size_t n);                     // the identity
  void (*finish)(const void* acc, size_t n, void* out);   // to the register type
  size_t acc_size;
};

// Null members if there is no such fold (sums of bools). Half types fold as f32.
FoldFns fold_functions(Fold kind, DType dtype);

struct HalfFns {
  TileFn widen;   // 16 bits to f32
  TileFn narrow;  // f32 to 16 bits, to nearest even
  TileFn round;   // f32 to f32
};
HalfFns half_functions(DType dtype);  // of f16 or bf16

}  // namespace plimsoll

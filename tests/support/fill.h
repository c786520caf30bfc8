// Inputs that C++ and Python make alike: element i is a hash of (seed, i), so that a golden file needs to
// hold no inputs. tests/golden/inputs.py is the other half.
#pragma once

#include <cstdint>
#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll::testing {

// SplitMix64 at position i of the stream `seed`.
uint64_t hash_at(uint64_t seed, uint64_t i);
// In [0, 1), with 53 random bits.
double unit_at(uint64_t seed, uint64_t i);
uint64_t hash_text(std::string_view text);  // FNV-1a

// Floats are uniform in [low, high); integers uniform in [ceil(low), floor(high)], for unsigned ones from 0;
// bools are fair; complex ones have both parts uniform. Halves are rounded from float.
Tensor fill(DType dtype, const Shape& shape, double low, double high, uint64_t seed);

// Element i as a double (of a complex tensor: part i, two per element). 64-bit integers lose their low bits.
double element(const Tensor& t, int64_t i);
void set_element(const Tensor& t, int64_t i, double value);
// How many parts element() can read: elements, twice that if complex.
int64_t parts(const Tensor& t);

}  // namespace plimsoll::testing

// Tile: what an element-wise op computes, as code for this processor and as text for devices that compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace plimsoll {

// A run of n elements: dense inputs and output in L1 cache. `out` may be one of the inputs if their elements
// have the same size.
using TileFn = void (*)(const void* const* in, void* out, size_t n, const double* params);

struct Tile {
  TileFn fn = nullptr;
  std::array<double, 4> params{};
  // What fn computes for one element, in the language of docs/devices.md: "a > p0 ? a : p0".
  std::string_view meaning = {};
};

}  // namespace plimsoll

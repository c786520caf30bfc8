// What the pooling ops share.
#pragma once

#include <array>
#include <vector>

#include "device/cpu/pool_geometry.h"
#include "graph/op.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {

inline constexpr std::array<AttrDef, 4> kPoolAttrs = {{
    {"window", AttrKind::ints},
    {"strides", AttrKind::ints},
    {"pad_low", AttrKind::ints},
    {"pad_high", AttrKind::ints},
}};

// The four attributes with every list written out.
inline Attrs pool_attrs(const PoolOptions& options) {
  const Ints zeros(options.window.size(), 0);
  return {{"window", options.window},
          {"strides", options.strides.empty() ? options.window : options.strides},
          {"pad_low", options.pad_low.empty() ? zeros : options.pad_low},
          {"pad_high", options.pad_high.empty() ? zeros : options.pad_high}};
}
inline Attrs pool_attrs(const Attrs& attrs) {
  Attrs mine;
  for (const AttrDef& def : kPoolAttrs) mine.set(def.name, *attrs.find(def.name));
  return mine;
}

// Uses of pooling for the test sweep.
struct PoolCase {
  Shape x;
  PoolOptions options;
};
inline std::vector<PoolCase> pool_cases() {
  return {
      {{2, 6, 8, 3}, {.window = {2, 2}}},
      {{1, 7, 5, 9}, {.window = {2, 2}}},
      {{2, 9, 8, 5}, {.window = {3, 3}, .strides = {2, 2}, .pad_low = {1, 1}, .pad_high = {1, 1}}},
      {{1, 7, 7, 17}, {.window = {3, 2}, .strides = {1, 1}, .pad_low = {1, 0}, .pad_high = {1, 1}}},
      {{1, 5, 6, 2}, {.window = {2, 1}, .strides = {3, 2}}},
      {{3, 11, 4}, {.window = {3}, .strides = {2}, .pad_low = {0}, .pad_high = {1}}},
      {{1, 4, 5, 6, 3}, {.window = {2, 2, 3}, .strides = {2, 1, 2}}},
      {{1, 1, 1, 1}, {.window = {1, 1}}},
      {{0, 4, 4, 3}, {.window = {2, 2}}},
  };
}

}  // namespace plimsoll

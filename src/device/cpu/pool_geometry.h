// The numbers of one pooling, checked. As in ConvGeometry, axes that are not there come first and have
// size 1. x is (N, in..., C), y is (N, out..., C); a window lies where its points are inside x, padding is
// skipped.
#pragma once

#include <string_view>

#include "device/cpu/conv_geometry.h"

namespace plimsoll {

struct PoolGeometry {
  int rank = 0;
  int64_t batch = 0, channels = 0;
  ConvAxes in{}, window{}, out{}, stride{}, pad_low{};

  int64_t in_points() const { return in[0] * in[1] * in[2]; }
  int64_t out_points() const { return out[0] * out[1] * out[2]; }
  int64_t window_points() const { return window[0] * window[1] * window[2]; }
  // Each input point lies in at most one window, and no window reaches outside.
  bool disjoint() const;
};

// Reads the attributes window, strides, pad_low and pad_high. Throws Error{invalid_argument} naming `op`.
PoolGeometry pool_geometry(std::string_view op, const Shape& x, const Attrs& attrs);
Shape pool_output_shape(const PoolGeometry& g);

// The part of a window that lies inside x, on one axis: window points [begin, end).
struct PoolSpan {
  int64_t begin, end;
};
PoolSpan pool_window(const PoolGeometry& g, size_t axis, int64_t out);
// The windows that cover input point `in` on one axis: output points [begin, end).
PoolSpan pool_windows_over(const PoolGeometry& g, size_t axis, int64_t in);

}  // namespace plimsoll

// The numbers of one convolution, checked. Every convolution is seen as a 3-D one: the axes a 1-D or 2-D one
// does not have come first and have size 1. x is (N, in..., C), the kernel (window..., C / groups, K), y is
// (N, out..., K), and
//   y[n, o, k] = sum over w, c of x'[n, o * stride + w * dilation - pad_low, c] * kernel[w, c, k]
// where x' is x with in_dilation - 1 zeros between its elements and zeros around it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "plimsoll/attrs.h"
#include "plimsoll/shape.h"

namespace plimsoll {

inline constexpr int kConvAxes = 3;
using ConvAxes = std::array<int64_t, kConvAxes>;

struct ConvGeometry {
  int rank = 0;  // spatial axes the tensors really have
  int64_t batch = 0, channels = 0, filters = 0, groups = 1;
  ConvAxes in{}, window{}, out{};
  ConvAxes stride{}, pad_low{}, pad_high{}, in_dilation{}, dilation{};

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  int64_t in_points() const { return in[0] * in[1] * in[2]; }
  int64_t out_points() const { return out[0] * out[1] * out[2]; }
  int64_t window_points() const { return window[0] * window[1] * window[2]; }
  int64_t x_elements() const { return batch * in_points() * channels; }
  int64_t y_elements() const { return batch * out_points() * filters; }
  int64_t kernel_elements() const { return window_points() * group_channels() * filters; }
  bool empty() const { return x_elements() == 0 || y_elements() == 0; }
  double flops() const {
    return 2.0 * static_cast<double>(batch * out_points()) * static_cast<double>(kernel_elements());
  }
  // x as the window sees it: with zeros between and around.
  int64_t padded(int axis) const;
};

// Reads strides, pad_low, pad_high, lhs_dilation, rhs_dilation (one entry per spatial axis, or none) and
// groups. Throws Error{invalid_argument} naming `op` if they, the shapes or the sizes of what follows do not
// fit.
ConvGeometry conv_geometry(std::string_view op, const Shape& x, const Shape& kernel, const Attrs& attrs);
Shape conv_output_shape(const ConvGeometry& g);

}  // namespace plimsoll

#include "device/cpu/conv_geometry.h"

#include <span>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// Attributes are far below this in any sane model; the bound keeps sums of a few of them in range.
constexpr int64_t kLargest = int64_t{1} << 31;

// The entries of attribute `name`, moved to the last `rank` axes.
ConvAxes axes_of(std::string_view op, const Attrs& attrs, std::string_view name, int rank, int64_t fallback) {
  const Ints& list = attrs.ints(name);
  ConvAxes axes;
  axes.fill(fallback);
  if (list.empty()) return axes;
  require(std::ssize(list) == rank, op, "expected ", rank, " entries in ", name, ", got ", list.size());
  for (int a = 0; a < rank; ++a) {
    const int64_t value = list[static_cast<size_t>(a)];
    require(value >= fallback && value < kLargest, op, "expected ", name, " of at least ", fallback, ", got ",
            value);
    axes[static_cast<size_t>(kConvAxes - rank + a)] = value;
  }
  return axes;
}

ConvAxes spatial_of(const Shape& shape, int first, int rank) {
  ConvAxes axes;
  axes.fill(1);
  for (int a = 0; a < rank; ++a) axes[static_cast<size_t>(kConvAxes - rank + a)] = shape[first + a];
  return axes;
}

// (size - 1) * step + 1, or 0 for an empty axis.
int64_t stretched(int64_t size, int64_t step, std::string_view op) {
  return size == 0 ? 0 : checked_mul(size - 1, step, op) + 1;
}

}  // namespace

int64_t ConvGeometry::padded(int axis) const {
  const auto a = static_cast<size_t>(axis);
  return stretched(in[a], in_dilation[a], "conv") + pad_low[a] + pad_high[a];
}

ConvGeometry conv_geometry(std::string_view op, const Shape& x, const Shape& kernel, const Attrs& attrs) {
  require(x.rank() >= 3 && x.rank() <= 5, op, "expected an input (N, 1 to 3 spatial axes, C), got shape ", x);
  require(kernel.rank() == x.rank(), op, "expected a kernel of rank ", x.rank(),
          " (spatial axes, C / groups, filters), got shape ", kernel);
  ConvGeometry g;
  g.rank = x.rank() - 2;
  g.batch = x[0];
  g.channels = x[x.rank() - 1];
  g.filters = kernel[kernel.rank() - 1];
  g.groups = attrs.integer("groups");
  require(g.groups >= 1 && g.channels % g.groups == 0 && g.filters % g.groups == 0, op,
          "expected groups that divide ", g.channels, " channels and ", g.filters, " filters, got ",
          g.groups);
  require(g.channels >= 1 && g.filters >= 1, op, "expected at least one channel and one filter, got shapes ",
          x, " and ", kernel);
  require(kernel[g.rank] == g.group_channels(), op, "expected a kernel for ", g.group_channels(),
          " channels per group, got shape ", kernel, " for input ", x);
  g.in = spatial_of(x, 1, g.rank);
  g.window = spatial_of(kernel, 0, g.rank);
  g.stride = axes_of(op, attrs, "strides", g.rank, 1);
  g.pad_low = axes_of(op, attrs, "pad_low", g.rank, 0);
  g.pad_high = axes_of(op, attrs, "pad_high", g.rank, 0);
  g.in_dilation = axes_of(op, attrs, "lhs_dilation", g.rank, 1);
  g.dilation = axes_of(op, attrs, "rhs_dilation", g.rank, 1);
  for (size_t a = 0; a < kConvAxes; ++a) {
    require(g.window[a] >= 1, op, "expected a window of at least 1, got kernel ", kernel);
    require(g.in[a] < kLargest && g.window[a] < kLargest, op, "axis too long in ", x, " or ", kernel);
    const int64_t padded = stretched(g.in[a], g.in_dilation[a], op) + g.pad_low[a] + g.pad_high[a];
    const int64_t reach = stretched(g.window[a], g.dilation[a], op);
    require(padded >= reach, op, "expected a window that fits the padded input, got window ", reach, " over ",
            padded, " (input ", x, ", kernel ", kernel, ")");
    g.out[a] = (padded - reach) / g.stride[a] + 1;
  }
  conv_output_shape(g);  // throws if the result cannot be addressed
  return g;
}

Shape conv_output_shape(const ConvGeometry& g) {
  std::array<int64_t, kConvAxes + 2> sizes{};
  size_t rank = 0;
  sizes[rank++] = g.batch;
  for (int a = kConvAxes - g.rank; a < kConvAxes; ++a) sizes[rank++] = g.out[static_cast<size_t>(a)];
  sizes[rank++] = g.filters;
  return Shape(std::span<const int64_t>(sizes.data(), rank));
}

}  // namespace plimsoll

#include "device/cpu/pool_geometry.h"

#include <algorithm>
#include <span>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;  // keeps sums of a few attributes in range

const Ints& entries(std::string_view op, const Attrs& attrs, std::string_view name, int rank, int64_t least) {
  const Ints& list = attrs.ints(name);
  require(std::ssize(list) == rank, op, "expected ", rank, " entries in ", name, ", got ", list.size());
  for (const int64_t value : list) {
    require(value >= least && value < kLargest, op, "expected ", name, " of at least ", least, ", got ",
            value);
  }
  return list;
}

}  // namespace

bool PoolGeometry::disjoint() const {
  for (size_t a = 0; a < kConvAxes; ++a) {
    if (stride[a] < window[a] || pad_low[a] > 0 || (out[a] - 1) * stride[a] + window[a] > in[a]) return false;
  }
  return true;
}

PoolGeometry pool_geometry(std::string_view op, const Shape& x, const Attrs& attrs) {
  require(x.rank() >= 3 && x.rank() <= 5, op, "expected an input (N, 1 to 3 spatial axes, C), got shape ", x);
  PoolGeometry g;
  g.rank = x.rank() - 2;
  g.batch = x[0];
  g.channels = x[x.rank() - 1];
  const Ints& window = entries(op, attrs, "window", g.rank, 1);
  const Ints& strides = entries(op, attrs, "strides", g.rank, 1);
  const Ints& low = entries(op, attrs, "pad_low", g.rank, 0);
  const Ints& high = entries(op, attrs, "pad_high", g.rank, 0);
  for (ConvAxes* axes : {&g.in, &g.window, &g.out, &g.stride}) axes->fill(1);
  for (int i = 0; i < g.rank; ++i) {
    const auto a = static_cast<size_t>(kConvAxes - g.rank + i);
    const auto e = static_cast<size_t>(i);
    require(x[1 + i] >= 1 && x[1 + i] < kLargest, op, "expected spatial axes of at least 1, got shape ", x);
    g.in[a] = x[1 + i];
    g.window[a] = window[e];
    g.stride[a] = strides[e];
    g.pad_low[a] = low[e];
    require(low[e] < window[e] && high[e] < window[e], op, "expected padding smaller than the window ",
            window[e], ", got ", low[e], " and ", high[e]);
    const int64_t padded = g.in[a] + low[e] + high[e];
    require(padded >= window[e], op, "expected a window that fits the padded input, got window ", window[e],
            " over ", padded, " (input ", x, ")");
    g.out[a] = (padded - window[e]) / strides[e] + 1;
  }
  const double points =
      static_cast<double>(g.window[0]) * static_cast<double>(g.window[1]) * static_cast<double>(g.window[2]);
  require(points < static_cast<double>(kLargest), op, "expected a window of less than ", kLargest,
          " points, got ", points);
  return g;
}

Shape pool_output_shape(const PoolGeometry& g) {
  std::array<int64_t, kConvAxes + 2> sizes{};
  size_t rank = 0;
  sizes[rank++] = g.batch;
  for (int a = kConvAxes - g.rank; a < kConvAxes; ++a) sizes[rank++] = g.out[static_cast<size_t>(a)];
  sizes[rank++] = g.channels;
  return Shape(std::span<const int64_t>(sizes.data(), rank));
}

PoolSpan pool_window(const PoolGeometry& g, size_t axis, int64_t out) {
  const int64_t first = out * g.stride[axis] - g.pad_low[axis];
  const int64_t begin = std::max<int64_t>(0, -first);
  return {begin, std::max(begin, std::min(g.window[axis], g.in[axis] - first))};
}

PoolSpan pool_windows_over(const PoolGeometry& g, size_t axis, int64_t in) {
  const int64_t place = in + g.pad_low[axis], stride = g.stride[axis];
  const int64_t begin = place < g.window[axis] ? 0 : (place - g.window[axis]) / stride + 1;
  return {begin, std::max(begin, std::min(g.out[axis], place / stride + 1))};
}

}  // namespace plimsoll

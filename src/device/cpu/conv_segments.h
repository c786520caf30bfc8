// How our own convolution kernels read the input. The output points are cut into segments: some rows of one
// plane of one image, or a part of one long row. For a segment the input points its windows touch lie in
// memory at
//   base + window_offset[w] + point_offset[p] + channel
// with the same offsets for every segment: either in x itself, or, where there is padding or an input
// dilation, in a small buffer that gather() fills with a copy, zeros included. Pads may be negative here
// (rows are cut off).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "device/cpu/conv_geometry.h"

namespace plimsoll {

struct ConvSegment {
  int64_t image, plane, row, column, rows, columns;

  int64_t points() const { return rows * columns; }
};

struct ConvSegments {
  ConvGeometry g;
  int64_t rows = 1, columns = 1;      // of a full segment; all columns if it has several rows
  int64_t per_row = 1;                // segments of one row, or of several rows together
  int64_t per_plane = 1;              // segments of a plane
  int64_t count = 0;                  // segments in all
  bool direct = false;                // x itself is read
  int64_t in_rows = 0, in_width = 0;  // of the buffer
  int64_t row_stride = 0, plane_stride = 0;
  std::vector<int64_t> window_offset;  // one per window point
  std::vector<int64_t> point_offset;   // one per output point of a full segment

  int64_t points() const { return rows * columns; }  // of a full segment
  int64_t buffer_elements() const { return direct ? 0 : g.window[0] * plane_stride; }
  ConvSegment segment(int64_t i) const {
    const int64_t plane = i / per_plane, row = i % per_plane / per_row * rows, column = i % per_row * columns;
    return {plane / g.out[0],
            plane % g.out[0],
            row,
            column,
            std::min(rows, g.out[1] - row),
            std::min(columns, g.out[2] - column)};
  }
  // Where in y (or dy) the segment begins, in points; the next one begins where it ends.
  int64_t first_point(const ConvSegment& s) const {
    return ((s.image * g.out[0] + s.plane) * g.out[1] + s.row) * g.out[2] + s.column;
  }
};

// Segments of about `points` output points.
inline ConvSegments conv_segments(const ConvGeometry& g, int64_t points) {
  ConvSegments s;
  s.g = g;
  // An output without points has no segments, but all sizes stay above 0.
  const int64_t height = std::max<int64_t>(1, g.out[1]), width = std::max<int64_t>(1, g.out[2]);
  s.rows = std::clamp<int64_t>(points / width, 1, height);
  s.columns = s.rows > 1 ? width : std::min(points, width);
  s.per_row = (width - 1) / s.columns + 1;
  s.per_plane = ((height - 1) / s.rows + 1) * s.per_row;
  s.count = g.out[1] * g.out[2] == 0 ? 0 : g.batch * g.out[0] * s.per_plane;
  const auto nothing = [](const ConvAxes& axes, int64_t value) {
    return std::ranges::all_of(axes, [&](int64_t a) { return a == value; });
  };
  s.direct = nothing(g.pad_low, 0) && nothing(g.pad_high, 0) && nothing(g.in_dilation, 1);
  s.in_rows = (s.rows - 1) * g.stride[1] + (g.window[1] - 1) * g.dilation[1] + 1;
  s.in_width = (s.columns - 1) * g.stride[2] + (g.window[2] - 1) * g.dilation[2] + 1;
  s.row_stride = (s.direct ? g.in[2] : s.in_width) * g.channels;
  s.plane_stride = s.direct ? g.dilation[0] * g.in[1] * s.row_stride : s.in_rows * s.row_stride;
  for (int64_t d = 0; d < g.window[0]; ++d) {
    for (int64_t h = 0; h < g.window[1]; ++h) {
      for (int64_t w = 0; w < g.window[2]; ++w) {
        s.window_offset.push_back(d * s.plane_stride + h * g.dilation[1] * s.row_stride +
                                  w * g.dilation[2] * g.channels);
      }
    }
  }
  for (int64_t r = 0; r < s.rows; ++r) {
    for (int64_t o = 0; o < s.columns; ++o) {
      s.point_offset.push_back(r * g.stride[1] * s.row_stride + o * g.stride[2] * g.channels);
    }
  }
  return s;
}

// The input index behind place `at` of the padded, dilated axis, or -1 where there is a zero.
inline int64_t conv_source(const ConvGeometry& g, size_t axis, int64_t at) {
  const int64_t place = at - g.pad_low[axis];
  if (place < 0 || place % g.in_dilation[axis] != 0) return -1;
  const int64_t i = place / g.in_dilation[axis];
  return i < g.in[axis] ? i : -1;
}

// One row of the buffer, whose first place is `first` of the padded, dilated axis.
template <class T>
void gather_row(const ConvSegments& s, int64_t first, const T* x_row, T* to) {
  const ConvGeometry& g = s.g;
  std::fill_n(to, s.in_width * g.channels, T{0});
  const int64_t step = g.in_dilation[2], low = g.pad_low[2] - first;
  int64_t i = low >= 0 ? 0 : (-low + step - 1) / step;  // the first element that is not left of the buffer
  if (step == 1) {
    const int64_t at = i + low;
    const int64_t count = std::min(g.in[2] - i, s.in_width - at);
    if (count > 0) std::copy_n(x_row + i * g.channels, count * g.channels, to + at * g.channels);
    return;
  }
  for (; i < g.in[2] && i * step + low < s.in_width; ++i) {
    std::copy_n(x_row + i * g.channels, g.channels, to + (i * step + low) * g.channels);
  }
}

// Where the segment's input begins: in x, or in `buffer` (buffer_elements() long) after a copy.
template <class T>
const T* gather(const ConvSegments& s, const ConvSegment& at, const T* x, T* buffer) {
  const ConvGeometry& g = s.g;
  const int64_t x_row = g.in[2] * g.channels;
  const T* image = x + at.image * g.in_points() * g.channels;
  if (s.direct) {
    const int64_t row = at.plane * g.stride[0] * g.in[1] + at.row * g.stride[1];
    return image + row * x_row + at.column * g.stride[2] * g.channels;
  }
  const int64_t rows = s.in_rows - (s.rows - at.rows) * g.stride[1];
  for (int64_t d = 0; d < g.window[0]; ++d) {
    const int64_t plane = conv_source(g, 0, at.plane * g.stride[0] + d * g.dilation[0]);
    for (int64_t r = 0; r < rows; ++r) {
      T* to = buffer + d * s.plane_stride + r * s.row_stride;
      const int64_t row = plane < 0 ? -1 : conv_source(g, 1, at.row * g.stride[1] + r);
      if (row < 0) {
        std::fill_n(to, s.row_stride, T{0});
      } else {
        gather_row(s, at.column * g.stride[2], image + (plane * g.in[1] + row) * x_row, to);
      }
    }
  }
  return buffer;
}

}  // namespace plimsoll

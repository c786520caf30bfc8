// What the kernels of Winograd's convolutions share: where the tiles of a convolution lie, and for which it
// is worth the while.
#pragma once

#include <cstdint>

#include "device/aligned.h"
#include "device/cpu/conv_geometry.h"
#include "device/cpu/winograd_transforms.h"
#include "plimsoll/dtype.h"

namespace plimsoll::winograd {

inline constexpr int64_t kProducts = 16;
inline constexpr int64_t kResults = 2;  // side of a tile's results
inline constexpr int64_t kFloat = sizeof(float);

inline int64_t lines(int64_t floats) { return aligned(floats * kFloat) / kFloat; }
// From one of the 16 matrices to the next: never a power of two, which would put all into one set of a cache.
inline int64_t matrix_step(int64_t elements) { return lines(elements) + kAlign / kFloat; }

struct Tiles {
  ConvGeometry g;
  int64_t rows, columns, count;

  explicit Tiles(const ConvGeometry& geometry)
      : g(geometry),
        rows(divide_up(g.out[1], kResults)),
        columns(divide_up(g.out[2], kResults)),
        count(g.batch * rows * columns) {}

  struct Place {
    int64_t image, row, column;  // of its first result
  };
  Place place(int64_t tile) const {
    const int64_t column = tile % columns, row = tile / columns % rows, image = tile / (columns * rows);
    return {image, row * kResults, column * kResults};
  }
  // Where the 16 input points of a tile lie; `zeros` for those in the padding.
  void inputs(int64_t tile, const float* x, const float* zeros, const float** points) const {
    const Place p = place(tile);
    for (int64_t i = 0; i < kProducts; ++i) {
      const int64_t row = p.row - g.pad_low[1] + i / 4, column = p.column - g.pad_low[2] + i % 4;
      const bool inside = row >= 0 && row < g.in[1] && column >= 0 && column < g.in[2];
      points[i] = inside ? x + ((p.image * g.in[1] + row) * g.in[2] + column) * g.channels : zeros;
    }
  }
  // Which element of y each of its 4 results begins at; -1 outside.
  void results(int64_t tile, int64_t* elements) const {
    const Place p = place(tile);
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t row = p.row + i / 2, column = p.column + i % 2;
      const bool inside = row < g.out[1] && column < g.out[2];
      elements[i] = inside ? ((p.image * g.out[1] + row) * g.out[2] + column) * g.filters : -1;
    }
  }
};

// How many filters of that many channels (or the other way round) the 16 matrices are made for at a time, a
// multiple of `panel`: those of wide layers have tens of megabytes, which no cache holds.
int64_t filters_at_once(int64_t channels, int64_t filters, int64_t panel);

// Throws Error{unsupported} unless it is a plain 3x3 convolution of float32 whose channels and filters fill
// the products' panels.
void require_suited(const ConvGeometry& g, DType dtype);
// Whether it is one, and faster so than by a plain kernel.
bool leads(const ConvGeometry& g, DType dtype);

}  // namespace plimsoll::winograd

#include "device/cpu/winograd_transforms.h"

// Tiles are arrays of vectors, which vectors of unknown length cannot be in.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/winograd_transforms.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

// One axis of each transform, from and to vectors `s` and `t` apart.
HWY_INLINE void input_axis(const V* d, int s, V* v, int t) {
  v[0] = hn::Sub(d[0], d[2 * s]);
  v[t] = hn::Add(d[s], d[2 * s]);
  v[2 * t] = hn::Sub(d[2 * s], d[s]);
  v[3 * t] = hn::Sub(d[s], d[3 * s]);
}

HWY_INLINE void gradient_axis(const V* d, int s, V* v, int t) {
  v[0] = d[0];
  v[t] = hn::Add(d[0], d[s]);
  v[2 * t] = hn::Sub(d[0], d[s]);
  v[3 * t] = hn::Neg(d[s]);
}

HWY_INLINE void result_axis(const V* m, int s, V* y, int t) {
  const V sum = hn::Add(m[s], m[2 * s]), difference = hn::Sub(m[s], m[2 * s]);
  y[0] = hn::Add(m[0], sum);
  y[t] = hn::Sub(difference, m[3 * s]);
}

HWY_INLINE void kernel_axis(const V* g, int s, V* u, int t) {
  const V half = hn::Set(D(), 0.5f);
  const V ends = hn::Mul(half, hn::Add(g[0], g[2 * s])), middle = hn::Mul(half, g[s]);
  u[0] = g[0];
  u[t] = hn::Add(ends, middle);
  u[2 * t] = hn::Sub(ends, middle);
  u[3 * t] = g[2 * s];
}

HWY_INLINE void kernel_gradient_axis(const V* u, int s, V* g, int t) {
  const V half = hn::Set(D(), 0.5f);
  const V sum = hn::Mul(half, hn::Add(u[s], u[2 * s]));
  g[0] = hn::Add(u[0], sum);
  g[t] = hn::Mul(half, hn::Sub(u[s], u[2 * s]));
  g[2 * t] = hn::Add(sum, u[3 * s]);
}

HWY_INLINE void load_rows(const float* from, int64_t step, V* rows) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = hn::LoadU(D(), from + i * step);
}

HWY_INLINE void store_rows(const V* rows, float* to, int64_t step) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) hn::StoreU(rows[i], D(), to + i * step);
}

void input(const float* const* points, int64_t n, float* to, int64_t step) {
  for (int64_t c = 0; c < n; c += lanes()) {
    V d[16], half[16];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) d[4 * i + j] = hn::LoadU(D(), points[4 * i + j] + c);
      input_axis(d + j, 4, half + j, 4);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) input_axis(half + 4 * i, 1, d + 4 * i, 1);
    store_rows(d, to + c, step);
  }
}

void gradient(const float* const* points, int64_t n, float* to, int64_t step) {
  for (int64_t c = 0; c < n; c += lanes()) {
    V d[4], half[8], rows[16];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) d[i] = hn::LoadU(D(), points[i] + c);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) gradient_axis(d + j, 2, half + j, 2);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) gradient_axis(half + 2 * i, 1, rows + 4 * i, 1);
    store_rows(rows, to + c, step);
  }
}

void result(const float* from, int64_t step, int64_t n, const WinogradFinish& finish, float* const* points) {
  const D d;
  for (int64_t k = 0; k < n; k += lanes()) {
    V m[16], half[8], y[4];
    load_rows(from + k, step, m);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) result_axis(m + j, 4, half + j, 4);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) result_axis(half + 4 * i, 1, y + 2 * i, 1);
    const V bias = finish.bias ? hn::LoadU(d, finish.bias + k) : hn::Zero(d);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      if (!points[i]) continue;
      V v = hn::Add(y[i], bias);
      if (finish.residual[i]) v = hn::Add(v, hn::LoadU(d, finish.residual[i] + k));
      if (finish.relu) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(d)), v);  // NaN stays
      hn::StoreU(v, d, points[i] + k);
    }
  }
}

void kernel(const float* from, int64_t from_step, int64_t rows, int64_t width, const float* scale, float* to,
            int64_t step) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < width; k += lanes()) {
      V g[9], half[12], u[16];
      const int64_t at = row * width + k;
#pragma GCC unroll 9
      for (int i = 0; i < 9; ++i) g[i] = hn::LoadU(D(), from + i * from_step + at);
      if (scale) {
        const V factor = hn::LoadU(D(), scale + k);
#pragma GCC unroll 9
        for (int i = 0; i < 9; ++i) g[i] = hn::Mul(g[i], factor);
      }
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) kernel_axis(g + j, 3, half + j, 3);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) kernel_axis(half + 3 * i, 1, u + 4 * i, 1);
      store_rows(u, to + at, step);
    }
  }
}

void kernel_gradient(const float* from, int64_t step, int64_t slices, int64_t n, float* to, int64_t to_step) {
  for (int64_t k = 0; k < n; k += lanes()) {
    V u[16], half[12], g[9];
    load_rows(from + k, step, u);
    for (int64_t s = 1; s < slices; ++s) {
#pragma GCC unroll 16
      for (int i = 0; i < 16; ++i) {
        u[i] = hn::Add(u[i], hn::LoadU(D(), from + (16 * s + i) * step + k));
      }
    }
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) kernel_gradient_axis(u + j, 4, half + j, 4);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) kernel_gradient_axis(half + 4 * i, 1, g + 3 * i, 1);
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) hn::StoreU(g[i], D(), to + i * to_step + k);
  }
}

const WinogradTransforms* transforms() {
  static constexpr WinogradTransforms kTable = {input, gradient, result, kernel, kernel_gradient};
  return &kTable;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(transforms);
const WinogradTransforms& winograd_transforms() { return *HWY_DYNAMIC_DISPATCH(transforms)(); }

}  // namespace plimsoll
#endif

#include "device/cpu/gemm_kernels.h"

#include "device/aligned.h"

// Accumulators are arrays of vectors, which vectors of unknown length cannot be in.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/gemm_kernels.cpp"
#include "hwy/foreach_target.h"
#include "device/cpu/transpose-inl.h"
#include "device/cpu/vector_math-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows by vectors of a tile. Its accumulators, one row of B and one element of A fit the registers: 16,
// or 32 on AVX-512 and NEON. Two multiply-adds per cycle of latency 4 want 8 accumulators or more.
#if HWY_TARGET == HWY_NEON || HWY_TARGET <= HWY_AVX3
constexpr int kRows = 12;
#else
constexpr int kRows = 6;
#endif
constexpr int kVectors = 2;
constexpr int64_t kSmallB = 20 << 10;  // bytes
constexpr int64_t kAhead = 24;  // rows that packing reads ahead: no hardware does it over large strides
constexpr int vectors_for(int rows) { return rows <= 3 ? 4 : kVectors; }

template <class T>
struct Tile {
  const T* HWY_RESTRICT a;
  int64_t a_row, a_col;
  const T* HWY_RESTRICT b;
  int64_t b_row;
  T* HWY_RESTRICT c;
  int64_t c_row, k;
  const T* bias;
};

// R rows by V vectors; the last vector is cut to `last` lanes if kCut.
template <class T, int R, int V, bool kCut>
HWY_INLINE void tile(const GemmBlock<T>& call, const Tile<T>& t, size_t last) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d);
  const auto load = [&](const T* p, int v) HWY_ATTR {
    return kCut && v == V - 1 ? vm::load_first(d, p + v * lanes, last, T(0)) : hn::LoadU(d, p + v * lanes);
  };

  Vec acc[R][V];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) acc[r][v] = hn::Zero(d);
  }
  const T* HWY_RESTRICT b = t.b;
  const T* HWY_RESTRICT rows[R];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) rows[r] = t.a + r * t.a_row;
    // C is needed last, so it comes while the sums are made.
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    hwy::Prefetch(t.c + r * t.c_row);
    hwy::Prefetch(t.c + r * t.c_row + V * lanes - 1);
  }
  int64_t offset = 0;
  for (int64_t p = 0; p < t.k; ++p, b += t.b_row, offset += t.a_col) {
    Vec bv[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) bv[v] = load(b, v);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vec av = hn::Set(d, rows[r][offset]);
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) acc[r][v] = hn::MulAdd(av, bv[v], acc[r][v]);
    }
  }

  const auto for_all = [&](const auto& f) HWY_ATTR {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) f(r, v);
    }
  };
  T* const c = t.c;
  const int64_t c_row = t.c_row;
  if (call.add_c)
    for_all([&](int r, int v) HWY_ATTR { acc[r][v] = hn::Add(acc[r][v], load(c + r * c_row, v)); });
  if (t.bias) {
    for_all([&](int r, int v) HWY_ATTR {
      acc[r][v] = hn::Add(acc[r][v], call.bias_scalar ? hn::Set(d, *t.bias) : load(t.bias, v));
    });
  }
  if (call.relu) {  // NaN stays
    for_all([&](int r, int v)
                HWY_ATTR { acc[r][v] = hn::IfThenZeroElse(hn::Lt(acc[r][v], hn::Zero(d)), acc[r][v]); });
  }
  for_all([&](int r, int v) HWY_ATTR {
    T* const out = c + r * c_row + v * static_cast<int64_t>(lanes);
    if (kCut && v == V - 1)
      vm::store_first(acc[r][v], d, out, last);
    else
      hn::StoreU(acc[r][v], d, out);
  });
}

// The columns [0, n) of one panel of B under R rows: n is at most V vectors.
template <class T, int R, int V>
HWY_NOINLINE void tile_cut(const GemmBlock<T>& call, const Tile<T>& t, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  if constexpr (V > 1) {
    if (n <= (V - 1) * lanes) return tile_cut<T, R, V - 1>(call, t, n);
  }
  tile<T, R, V, true>(call, t, static_cast<size_t>(n - (V - 1) * lanes));
}

template <class T, int R>
HWY_NOINLINE void tile_full(const GemmBlock<T>& call, const Tile<T>& t) {
  tile<T, R, kVectors, false>(call, t, 0);
}

template <class T, int R>
HWY_NOINLINE void tile_wide(const GemmBlock<T>& call, const Tile<T>& t) {
  tile<T, R, vectors_for(R), false>(call, t, 0);
}

template <class T>
using TileFn = void (*)(const GemmBlock<T>&, const Tile<T>&);
template <class T>
using TileCutFn = void (*)(const GemmBlock<T>&, const Tile<T>&, int64_t);

template <class T, int R = kRows>
void fill_tables(TileFn<T>* full, TileFn<T>* wide, TileCutFn<T>* cut) {
  full[R] = tile_full<T, R>;
  wide[R] = tile_wide<T, R>;
  cut[R] = tile_cut<T, R, vectors_for(R)>;
  if constexpr (R > 1) fill_tables<T, R - 1>(full, wide, cut);
}

template <class T>
struct TileTables {
  TileFn<T> full[kRows + 1] = {};
  TileFn<T> wide[kRows + 1] = {};
  TileCutFn<T> cut[kRows + 1] = {};
  TileTables() { fill_tables<T>(full, wide, cut); }
};

template <class T>
void block(const GemmBlock<T>& call) {
  if (call.m == 0) return;
  static const TileTables<T> tables;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const bool direct = call.b_panel == 0;  // B as it lies: tiles as broad as the rows allow
  const int64_t widest = direct && call.m <= 3 ? vectors_for(static_cast<int>(call.m)) : kVectors;
  const int64_t columns = widest * lanes;
  const int64_t panels = (call.m + kRows - 1) / kRows;
  // Rows are spread evenly: 32 rows are tiles of 6 and 5 rather than five of 6 and a slow one of 2.
  // The first `larger` of them have `most` rows, the others one less.
  const int64_t most = call.a_panel ? kRows : divide_up(call.m, panels);
  const int64_t larger = call.a_panel ? panels : call.m - (most - 1) * panels;
  const auto one = [&](int64_t i, int64_t j) {
    const int64_t row = i * most - (i > larger ? i - larger : 0);
    const int64_t rows = HWY_MIN(call.m - row, i < larger ? most : most - 1);
    const int64_t n = call.n - j < columns ? call.n - j : columns;
    const Tile<T> t{.a = call.a_panel ? call.a + i * call.a_panel : call.a + row * call.a_row,
                    .a_row = call.a_row,
                    .a_col = call.a_col,
                    .b = direct ? call.b + j : call.b + j / columns * call.b_panel,
                    .b_row = call.b_row,
                    .c = call.c + row * call.c_row + j,
                    .c_row = call.c_row,
                    .k = call.k,
                    .bias = call.bias && !call.bias_scalar ? call.bias + j : call.bias};
    if (n < columns)
      tables.cut[rows](call, t, n);
    else if (widest > kVectors)
      tables.wide[rows](call, t);
    else
      tables.full[rows](call, t);
  };
  // If all of B stays in the first-level cache, A is read once; else a panel of B stays there while A
  // comes from the second.
  if (call.k * call.n * static_cast<int64_t>(sizeof(T)) <= kSmallB) {
    for (int64_t i = 0; i < panels; ++i) {
      for (int64_t j = 0; j < call.n; j += columns) one(i, j);
    }
  } else {
    for (int64_t j = 0; j < call.n; j += columns) {
      for (int64_t i = 0; i < panels; ++i) one(i, j);
    }
  }
}

// R rows of A times x: R independent sums of V vectors each.
template <class T, int R, int V>
HWY_INLINE void dot_rows(const GemmDot<T>& call, int64_t row) {
  const hn::ScalableTag<T> d;
  using Vec = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vec acc[R][V];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) acc[r][v] = hn::Zero(d);
  }
  const T* a = call.a + row * call.a_row;
  int64_t p = 0;
  for (; p + V * lanes <= call.k; p += V * lanes) {
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      const Vec x = hn::LoadU(d, call.x + p + v * lanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        acc[r][v] = hn::MulAdd(hn::LoadU(d, a + r * call.a_row + p + v * lanes), x, acc[r][v]);
      }
    }
  }
  for (; p < call.k; p += lanes) {
    const auto n = static_cast<size_t>(call.k - p < lanes ? call.k - p : lanes);
    const Vec x = vm::load_first(d, call.x + p, n, T(0));
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      acc[r][0] = hn::MulAdd(vm::load_first(d, a + r * call.a_row + p, n, T(0)), x, acc[r][0]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    Vec sum = acc[r][0];
#pragma GCC unroll 8
    for (int v = 1; v < V; ++v) sum = hn::Add(sum, acc[r][v]);
    T y = hn::GetLane(hn::SumOfLanes(d, sum));
    if (call.add_c) y += call.y[row + r];
    if (call.bias) y += call.bias_scalar ? *call.bias : call.bias[row + r];
    if (call.relu) y = y < T(0) ? T(0) : y;
    call.y[row + r] = y;
  }
}

template <class T>
void dot(const GemmDot<T>& call) {
  int64_t i = 0;
  // Every row is summed the same way, so that splitting rows over threads changes nothing.
  for (; i + 4 <= call.m; i += 4) dot_rows<T, 4, 2>(call, i);
  for (; i < call.m; ++i) dot_rows<T, 1, 2>(call, i);
}

template <class T>
void pack_plain(const T* x, int64_t row, int64_t col, int64_t count, int64_t k, int64_t width, T* out) {
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t i = 0; i < count; ++i) out[p * width + i] = x[i * row + p * col];
    for (int64_t i = count; i < width; ++i) out[p * width + i] = T(0);
  }
}

// Rows contiguous along p: four rows at a time, from right to left, so that what a group of four writes
// past the panel's width (which need not divide by 4) lands where the groups after it write. The `next` rows
// of the panel that follows are fetched meanwhile: rows are too short for the hardware to see them coming.
template <class T>
void pack_transposed(const T* x, int64_t row, int64_t count, int64_t k, int64_t width, int64_t next, T* out) {
  const auto at = [&](int64_t i, int64_t p) { return x + (i < count ? i : count - 1) * row + p; };
  constexpr int64_t kLine = 64 / sizeof(T);
  int64_t p = 0;
  for (; p + 4 <= k; p += 4) {
    if (p % kLine == 0) {
      for (int64_t i = 0; i < next; ++i) hwy::Prefetch(x + (width + i) * row + p);
    }
    for (int64_t q = (width - 1) / 4 * 4; q >= 0; q -= 4) {
      transpose(at(q, p), at(q + 1, p), at(q + 2, p), at(q + 3, p), out + p * width + q, width);
    }
  }
  pack_plain(x + p, row, 1, count, k - p, width, out + p * width);
}

// Full panels of columns contiguous along i, in whole vectors; the last vector of a panel is moved back
// so that it ends at the width. All panels at once for each p: x is read as it lies, which large
// strides make several times faster.
template <class T, size_t kLanes>
void pack_copy(const T* x, int64_t col, int64_t panels, int64_t k, int64_t width, int64_t panel, T* out) {
  const hn::CappedTag<T, kLanes> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t p = 0; p < k; ++p) {
    const T* HWY_RESTRICT from = x + p * col;
    const T* const ahead = from + (p + kAhead < k ? kAhead : 0) * col;
    for (int64_t j = 0; j < panels; ++j) {
      hwy::Prefetch(ahead + j * width);
      for (int64_t i = 0; i < width; i += lanes) {
        const int64_t at = i + lanes <= width ? i : width - lanes;
        hn::StoreU(hn::LoadU(d, from + j * width + at), d, out + j * panel + p * width + at);
      }
    }
  }
}

template <class T>
void pack(const T* x, int64_t row, int64_t col, int64_t count, int64_t k, int64_t width, int64_t panel,
          T* out) {
  constexpr size_t kMost = HWY_LANES(T);
  int64_t i = 0;
  if (row == 1 && width % 2 == 0 && width >= 4) {
    const int64_t full = count / width;
    if (width % static_cast<int64_t>(kMost) == 0)
      pack_copy<T, kMost>(x, col, full, k, width, panel, out);
    else
      pack_copy<T, 4>(x, col, full, k, width, panel, out);  // a panel of A is 6 or 12 wide
    i = full * width;
  }
  for (; i < count; i += width) {
    const int64_t rows = count - i < width ? count - i : width;
    T* const to = out + i / width * panel;
    if (col == 1)
      pack_transposed(x + i * row, row, rows, k, width, HWY_MIN(width, count - i - rows), to);
    else
      pack_plain(x + i * row, row, col, rows, k, width, to);
  }
}

template <class T>
const GemmKernels<T>* kernels() {
  static const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  static const GemmKernels<T> table = {kRows,    kVectors * lanes, vectors_for(1) * lanes,
                                       block<T>, dot<T>,           pack<T>};
  return &table;
}

const GemmKernels<float>* kernels_f32() { return kernels<float>(); }
const GemmKernels<double>* kernels_f64() { return kernels<double>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(kernels_f32);
HWY_EXPORT(kernels_f64);
const GemmKernels<float>& gemm_kernels_f32() { return *HWY_DYNAMIC_DISPATCH(kernels_f32)(); }
const GemmKernels<double>& gemm_kernels_f64() { return *HWY_DYNAMIC_DISPATCH(kernels_f64)(); }

}  // namespace plimsoll
#endif

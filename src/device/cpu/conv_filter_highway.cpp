// The gradient of a convolution by its kernel, our own way, straight from channels-last tensors:
//   dkernel[m, k] = sum over points p of x[p + offset(m)] * dy[p, k],  m = (window point, channel).
// A tile of up to 6 m by two vectors of k stays in registers while the points of a block go by: per point two vectors of
// dy (packed once per block) and 6 broadcasts from x, which needs no packing. A task is one panel of k and one slice of the segments.
// Slices have partial sums of their own, added in order: the slicing depends on shapes alone, so does every result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/conv_filter_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "device/cpu/conv_filter_highway.h"
#include "device/cpu/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// acc[i, panel] += sum over points of x[offsets[p] + i-th row] * dy[p, panel] for kRows rows.
template <int kRows, class T>
HWY_INLINE void filter_tile(const T* const* rows, const int64_t* offsets, int64_t points, const T* dy, T* acc) {
  const hn::ScalableTag<T> d;
  const size_t n = hn::Lanes(d);
  const T* x0 = rows[0];
  const T* x1 = rows[kRows > 1 ? 1 : 0];
  const T* x2 = rows[kRows > 2 ? 2 : 0];
  const T* x3 = rows[kRows > 3 ? 3 : 0];
  const T* x4 = rows[kRows > 4 ? 4 : 0];
  const T* x5 = rows[kRows > 5 ? 5 : 0];
  auto a0 = hn::Load(d, acc), b0 = hn::Load(d, acc + n);
  auto a1 = a0, b1 = b0, a2 = a0, b2 = b0, a3 = a0, b3 = b0, a4 = a0, b4 = b0, a5 = a0, b5 = b0;
  if constexpr (kRows > 1) a1 = hn::Load(d, acc + 2 * n), b1 = hn::Load(d, acc + 3 * n);
  if constexpr (kRows > 2) a2 = hn::Load(d, acc + 4 * n), b2 = hn::Load(d, acc + 5 * n);
  if constexpr (kRows > 3) a3 = hn::Load(d, acc + 6 * n), b3 = hn::Load(d, acc + 7 * n);
  if constexpr (kRows > 4) a4 = hn::Load(d, acc + 8 * n), b4 = hn::Load(d, acc + 9 * n);
  if constexpr (kRows > 5) a5 = hn::Load(d, acc + 10 * n), b5 = hn::Load(d, acc + 11 * n);
  for (int64_t p = 0; p < points; ++p) {
    const int64_t at = offsets[p];
    const auto lo = hn::Load(d, dy), hi = hn::Load(d, dy + n);
    dy += 2 * n;
    auto v = hn::Set(d, x0[at]);
    a0 = hn::MulAdd(v, lo, a0), b0 = hn::MulAdd(v, hi, b0);
    if constexpr (kRows > 1) v = hn::Set(d, x1[at]), a1 = hn::MulAdd(v, lo, a1), b1 = hn::MulAdd(v, hi, b1);
    if constexpr (kRows > 2) v = hn::Set(d, x2[at]), a2 = hn::MulAdd(v, lo, a2), b2 = hn::MulAdd(v, hi, b2);
    if constexpr (kRows > 3) v = hn::Set(d, x3[at]), a3 = hn::MulAdd(v, lo, a3), b3 = hn::MulAdd(v, hi, b3);
    if constexpr (kRows > 4) v = hn::Set(d, x4[at]), a4 = hn::MulAdd(v, lo, a4), b4 = hn::MulAdd(v, hi, b4);
    if constexpr (kRows > 5) v = hn::Set(d, x5[at]), a5 = hn::MulAdd(v, lo, a5), b5 = hn::MulAdd(v, hi, b5);
  }
  hn::Store(a0, d, acc), hn::Store(b0, d, acc + n);
  if constexpr (kRows > 1) hn::Store(a1, d, acc + 2 * n), hn::Store(b1, d, acc + 3 * n);
  if constexpr (kRows > 2) hn::Store(a2, d, acc + 4 * n), hn::Store(b2, d, acc + 5 * n);
  if constexpr (kRows > 3) hn::Store(a3, d, acc + 6 * n), hn::Store(b3, d, acc + 7 * n);
  if constexpr (kRows > 4) hn::Store(a4, d, acc + 8 * n), hn::Store(b4, d, acc + 9 * n);
  if constexpr (kRows > 5) hn::Store(a5, d, acc + 10 * n), hn::Store(b5, d, acc + 11 * n);
}

template <class T>
void filter_rows(int count, const T* const* rows, const int64_t* offsets, int64_t points, const T* dy, T* acc) {
  switch (count) {
    case 1: return filter_tile<1>(rows, offsets, points, dy, acc);
    case 2: return filter_tile<2>(rows, offsets, points, dy, acc);
    case 3: return filter_tile<3>(rows, offsets, points, dy, acc);
    case 4: return filter_tile<4>(rows, offsets, points, dy, acc);
    case 5: return filter_tile<5>(rows, offsets, points, dy, acc);
    default: return filter_tile<6>(rows, offsets, points, dy, acc);
  }
}

// Copies one panel of dy next to each other, zeros behind the last filter, and adds it to the sums of the bias.
template <class T>
void pack_panel(const T* dy, int64_t points, int64_t stride, size_t width, T* to, T* bias) {
  const hn::ScalableTag<T> d;
  const size_t n = hn::Lanes(d);
  auto lo_sum = hn::Load(d, bias), hi_sum = hn::Load(d, bias + n);
  for (int64_t p = 0; p < points; ++p, dy += stride, to += 2 * n) {
    if (width == 2 * n) {
      hn::Store(hn::LoadU(d, dy), d, to);
      hn::Store(hn::LoadU(d, dy + n), d, to + n);
    } else {
      std::copy_n(dy, width, to);
      std::fill_n(to + width, 2 * n - width, T{0});
    }
    lo_sum = hn::Add(lo_sum, hn::Load(d, to));
    hi_sum = hn::Add(hi_sum, hn::Load(d, to + n));
  }
  hn::Store(lo_sum, d, bias);
  hn::Store(hi_sum, d, bias + n);
}

template <class T>
struct Area {  // of one thread
  T* gathered;
  T* strip;
  int64_t* offsets;
};

// All rows of dkernel over the points of one block. `x` is where offsets count from, for this group's channels.
template <class T>
void multiply_block(const FilterPlan& p, const T* x, const Area<T>& area, int64_t points, T* sums) {
  const int64_t channels = p.segments.g.group_channels();
  const int64_t tiles = (p.rows + 5) / 6;
  int64_t w = 0, c = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t first = p.rows * t / tiles, count = p.rows * (t + 1) / tiles - first;
    std::array<const T*, 6> rows{};
    for (int64_t i = 0; i < count; ++i) {
      rows[static_cast<size_t>(i)] = x + p.segments.window_offset[static_cast<size_t>(w)] + c;
      if (++c == channels) c = 0, ++w;
    }
    filter_rows(static_cast<int>(count), rows.data(), area.offsets, points, area.strip, sums + first * p.panel);
  }
}

template <class T>
void run_task(const FilterPlan& p, int64_t task, const T* x, const T* dy, T* sums, const Area<T>& area) {
  const ConvGeometry& g = p.segments.g;
  const int64_t slice = task / p.panels(), panel = task % p.panels();
  const int64_t group = panel / p.group_panels, within = panel % p.group_panels * p.panel;
  const auto width = static_cast<size_t>(std::min(p.panel, g.group_filters() - within));
  const T* dy_panel = dy + group * g.group_filters() + within;
  std::fill_n(sums, p.task_elements, T{0});
  T* const bias = sums + p.rows * p.panel;
  const int64_t end = p.segments.count * (slice + 1) / p.slices;
  for (int64_t at = p.segments.count * slice / p.slices; at < end; at += p.block) {
    int64_t points = 0;
    const T* base = p.segments.direct ? x : area.gathered;
    for (int64_t i = at; i < std::min(end, at + p.block); ++i) {
      const ConvSegment segment = p.segments.segment(i);
      const T* source = gather(p.segments, segment, x, area.gathered + (i - at) * p.segments.buffer_elements());
      const int64_t count = segment.rows * g.out[2];
      pack_panel(dy_panel + p.segments.first_point(segment) * g.filters, count, g.filters, width,
                 area.strip + points * p.panel, bias);
      for (int64_t j = 0; j < count; ++j) area.offsets[points + j] = source - base + p.segments.point_offset(j);
      points += count;
    }
    multiply_block(p, base + group * g.group_channels(), area, points, sums);
  }
}

// Adds the slices, in order, and leaves the sums where they belong.
template <class T>
void write_out(const FilterPlan& p, int64_t panel, const T* sums, T* dkernel, T* dbias) {
  const ConvGeometry& g = p.segments.g;
  const int64_t within = panel % p.group_panels * p.panel;
  const int64_t first = panel / p.group_panels * g.group_filters() + within;
  const int64_t width = std::min(p.panel, g.group_filters() - within);
  for (int64_t m = 0; m <= p.rows; ++m) {
    T* const to = m < p.rows ? dkernel + m * g.filters + first : dbias == nullptr ? nullptr : dbias + first;
    if (to == nullptr) return;
    for (int64_t s = 0; s < p.slices; ++s) {
      const T* from = sums + (s * p.panels() + panel) * p.task_elements + m * p.panel;
      for (int64_t k = 0; k < width; ++k) to[k] = s == 0 ? from[k] : to[k] + from[k];
    }
  }
}

template <class T>
void filter_all(const FilterPlan& p, const T* x, const T* dy, T* dkernel, T* dbias, T* scratch) {
  T* const areas = scratch + p.tasks() * p.task_elements;
  parallel_for(p.tasks(), p.threads, [&](int64_t task, int thread) noexcept {
    T* const mine = areas + thread * p.thread_elements;
    T* const strip = mine + p.strip_at;
    auto* const offsets = reinterpret_cast<int64_t*>(strip + p.block_points() * p.panel);
    run_task(p, task, x, dy, scratch + task * p.task_elements, Area<T>{mine, strip, offsets});
  });
  parallel_for(p.panels(), p.threads, [&](int64_t panel, int) noexcept {
    write_out(p, panel, scratch, dkernel, dbias);
  });
}

int64_t panel_f32() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<float>())); }
int64_t panel_f64() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<double>())); }
void filter_f32(const FilterPlan& p, const float* x, const float* dy, float* dkernel, float* dbias, float* scratch) {
  filter_all(p, x, dy, dkernel, dbias, scratch);
}
void filter_f64(const FilterPlan& p, const double* x, const double* dy, double* dkernel, double* dbias,
                double* scratch) {
  filter_all(p, x, dy, dkernel, dbias, scratch);
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(panel_f32);
HWY_EXPORT(panel_f64);
HWY_EXPORT(filter_f32);
HWY_EXPORT(filter_f64);

namespace {

constexpr int64_t kBlockPoints = 256;      // a packed panel of so many points fits L1 beside the rows of x
constexpr int64_t kTasks = 32;             // enough for many cores, as long as
constexpr int64_t kPartialBytes = 4 << 20;  // the partial sums stay below this
constexpr int64_t kLine = 64;

int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

}  // namespace

template <class T>
FilterPlan plan_filter(const ConvGeometry& g, int threads) {
  FilterPlan p;
  p.segments = conv_segments(g, kBlockPoints);
  p.panel = sizeof(T) == 4 ? HWY_DYNAMIC_DISPATCH(panel_f32)() : HWY_DYNAMIC_DISPATCH(panel_f64)();
  p.group_panels = (g.group_filters() - 1) / p.panel + 1;
  p.rows = g.window_points() * g.group_channels();
  p.block = std::clamp<int64_t>(kBlockPoints / p.segments.points(), 1, std::max<int64_t>(p.segments.count, 1));
  const auto line = static_cast<int64_t>(kLine / sizeof(T));
  p.task_elements = (p.rows + 1) * p.panel;
  const int64_t partial = p.task_elements * p.panels() * static_cast<int64_t>(sizeof(T));
  const int64_t blocks = (p.segments.count - 1) / p.block + 1;
  p.slices = std::clamp<int64_t>(std::min(kTasks / p.panels(), kPartialBytes / partial), 1, std::max<int64_t>(blocks, 1));
  p.threads = threads;
  const auto offsets = p.block_points() * static_cast<int64_t>(sizeof(int64_t) / sizeof(T));
  p.strip_at = round_up(p.block * p.segments.buffer_elements(), line);
  p.thread_elements = p.strip_at + p.block_points() * p.panel + round_up(offsets, line);
  return p;
}

template <class T>
int64_t filter_scratch_bytes(const FilterPlan& p) {
  return (p.tasks() * p.task_elements + p.threads * p.thread_elements) * static_cast<int64_t>(sizeof(T));
}

template <>
void run_filter(const FilterPlan& p, const float* x, const float* dy, float* dkernel, float* dbias, float* scratch) {
  HWY_DYNAMIC_DISPATCH(filter_f32)(p, x, dy, dkernel, dbias, scratch);
}
template <>
void run_filter(const FilterPlan& p, const double* x, const double* dy, double* dkernel, double* dbias,
                double* scratch) {
  HWY_DYNAMIC_DISPATCH(filter_f64)(p, x, dy, dkernel, dbias, scratch);
}

template FilterPlan plan_filter<float>(const ConvGeometry&, int);
template FilterPlan plan_filter<double>(const ConvGeometry&, int);
template int64_t filter_scratch_bytes<float>(const FilterPlan&);
template int64_t filter_scratch_bytes<double>(const FilterPlan&);

}  // namespace plimsoll
#endif

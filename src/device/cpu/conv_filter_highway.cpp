// The gradient of a convolution by its kernel, our own way, straight from channels-last tensors:
//   dkernel[m, k] = sum over points p of x[p + offset(m)] * dy[p, k],  m = (window point, channel).
// A tile of up to 6 m by two vectors of k (a panel) stays in registers while the points of a block go by: per
// point two vectors of dy (packed once per block, unless its rows are short) and 6 broadcasts from x, which
// needs no packing. A task is some panels and one slice of the segments. Slices have sums of their own, added
// in order: the slicing depends on shapes alone, so does every result.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/conv_filter_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "device/aligned.h"
#include "device/cpu/conv_filter_highway.h"
#include "device/cpu/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// acc[i, panel] += sum over points of x[offsets[p] + i-th row] * dy[p, panel] for kRows rows.
template <int kRows, class T>
HWY_INLINE void filter_tile(const T* const* rows, const int64_t* offsets, int64_t points, const T* dy,
                            int64_t stride, T* acc) {
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
    const auto lo = hn::LoadU(d, dy), hi = hn::LoadU(d, dy + n);
    dy += stride;
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
void filter_rows(int count, const T* const* rows, const int64_t* offsets, int64_t points, const T* dy,
                 int64_t stride, T* acc) {
  switch (count) {
    case 1: return filter_tile<1>(rows, offsets, points, dy, stride, acc);
    case 2: return filter_tile<2>(rows, offsets, points, dy, stride, acc);
    case 3: return filter_tile<3>(rows, offsets, points, dy, stride, acc);
    case 4: return filter_tile<4>(rows, offsets, points, dy, stride, acc);
    case 5: return filter_tile<5>(rows, offsets, points, dy, stride, acc);
    default: return filter_tile<6>(rows, offsets, points, dy, stride, acc);
  }
}

// Copies one panel of dy next to each other, zeros behind the last filter.
template <class T>
void pack_panel(const T* dy, int64_t points, int64_t stride, size_t width, size_t panel, T* to) {
  for (int64_t p = 0; p < points; ++p, dy += stride, to += panel) {
    std::copy_n(dy, width, to);
    std::fill(to + width, to + panel, T{0});
  }
}

template <class T>
void add_bias(const T* dy, int64_t points, int64_t stride, T* bias) {
  const hn::ScalableTag<T> d;
  const size_t n = hn::Lanes(d);
  auto lo = hn::Load(d, bias), hi = hn::Load(d, bias + n);
  for (int64_t p = 0; p < points; ++p, dy += stride) {
    lo = hn::Add(lo, hn::LoadU(d, dy));
    hi = hn::Add(hi, hn::LoadU(d, dy + n));
  }
  hn::Store(lo, d, bias);
  hn::Store(hi, d, bias + n);
}

template <class T>
struct Area {  // of one thread
  T* gathered;
  T* strip;
  int64_t* offsets;
};

// The points of one block: where x is for this group's channels, and a panel of dy.
template <class T>
struct Block {
  const T* x;
  const int64_t* offsets;
  int64_t points;
  const T* dy;
  int64_t stride;
};

// All rows of dkernel, and the bias, of one panel over one block.
template <class T>
void multiply_block(const FilterPlan& p, const Block<T>& b, T* sums) {
  const int64_t channels = p.segments.g.group_channels();
  const int64_t tiles = (p.rows + 5) / 6;
  int64_t w = 0, c = 0;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t first = p.rows * t / tiles, count = p.rows * (t + 1) / tiles - first;
    std::array<const T*, 6> rows{};
    for (int64_t i = 0; i < count; ++i) {
      rows[static_cast<size_t>(i)] = b.x + p.segments.window_offset[static_cast<size_t>(w)] + c;
      if (++c == channels) c = 0, ++w;
    }
    filter_rows(static_cast<int>(count), rows.data(), b.offsets, b.points, b.dy, b.stride,
                sums + first * p.panel);
  }
  add_bias(b.dy, b.points, b.stride, sums + p.rows * p.panel);
}

// Gathers the input of segments [begin, end) and fills in the offsets of their points; returns how many there
// are.
template <class T>
int64_t gather_block(const FilterPlan& p, int64_t begin, int64_t end, const T* x, const T* base,
                     const Area<T>& area) {
  int64_t points = 0;
  for (int64_t i = begin; i < end; ++i) {
    const ConvSegment segment = p.segments.segment(i);
    const T* source =
        gather(p.segments, segment, x, area.gathered + (i - begin) * p.segments.buffer_elements());
    const int64_t count = segment.points();
    const int64_t* const within = p.segments.point_offset.data();
    for (int64_t j = 0; j < count; ++j) area.offsets[points + j] = source - base + within[j];
    points += count;
  }
  return points;
}

template <class T>
void run_task(const FilterPlan& p, int64_t task, const T* x, const T* dy, T* sums, const Area<T>& area) {
  const ConvGeometry& g = p.segments.g;
  const int64_t slice = task / p.slice_tasks(), group = task % p.slice_tasks() / p.group_tasks;
  const int64_t first = task % p.group_tasks * p.task_panels;
  const int64_t last = std::min(first + p.task_panels, p.group_panels);
  std::fill_n(sums, p.task_elements, T{0});
  const T* const base = p.segments.direct ? x : area.gathered;
  const int64_t end = p.segments.count * (slice + 1) / p.slices;
  for (int64_t at = p.segments.count * slice / p.slices; at < end; at += p.block) {
    const int64_t points = gather_block(p, at, std::min(end, at + p.block), x, base, area);
    // Points of segments that follow each other do so in dy too.
    const T* const rows =
        dy + p.segments.first_point(p.segments.segment(at)) * g.filters + group * g.group_filters();
    Block<T> b{base + group * g.group_channels(), area.offsets, points, nullptr,
               p.packed ? p.panel : g.filters};
    for (int64_t panel = first; panel < last; ++panel) {
      const T* const from = rows + panel * p.panel;
      const int64_t width = std::min(p.panel, g.group_filters() - panel * p.panel);
      b.dy = p.packed ? area.strip : from;
      if (p.packed) {
        pack_panel(from, points, g.filters, static_cast<size_t>(width), static_cast<size_t>(p.panel),
                   area.strip);
      }
      multiply_block(p, b, sums + (panel - first) * p.panel_elements);
    }
  }
}

// Adds the slices of one panel, in order, and leaves the sums where they belong.
template <class T>
void write_out(const FilterPlan& p, int64_t index, const T* scratch, T* dkernel, T* dbias) {
  const ConvGeometry& g = p.segments.g;
  const int64_t group = index / p.group_panels, panel = index % p.group_panels;
  const int64_t first = group * g.group_filters() + panel * p.panel;
  const int64_t width = std::min(p.panel, g.group_filters() - panel * p.panel);
  const int64_t task = group * p.group_tasks + panel / p.task_panels;
  const T* const sums = scratch + task * p.task_elements + panel % p.task_panels * p.panel_elements;
  for (int64_t m = 0; m <= p.rows; ++m) {
    T* const to = m < p.rows ? dkernel + m * g.filters + first : dbias == nullptr ? nullptr : dbias + first;
    if (to == nullptr) return;
    for (int64_t s = 0; s < p.slices; ++s) {
      const T* from = sums + s * p.slice_tasks() * p.task_elements + m * p.panel;
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
    auto* const offsets = reinterpret_cast<int64_t*>(strip + (p.packed ? p.block_points() * p.panel : 0));
    run_task(p, task, x, dy, scratch + task * p.task_elements, Area<T>{mine, strip, offsets});
  });
  parallel_for(p.group_panels * p.segments.g.groups, p.threads,
               [&](int64_t panel, int) noexcept { write_out(p, panel, scratch, dkernel, dbias); });
}

int64_t panel_f32() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<float>())); }
int64_t panel_f64() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<double>())); }
void filter_f32(const FilterPlan& p, const float* x, const float* dy, float* dkernel, float* dbias,
                float* scratch) {
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

constexpr int64_t kBlockPoints = 256;       // a packed panel of so many points fits L1 beside the rows of x
constexpr int64_t kTaskBytes = 256 << 10;   // sums of one task: they stay in L2
constexpr int64_t kTasks = 32;              // enough for many cores, as long as
constexpr int64_t kPartialBytes = 2 << 20;  // the sums of all slices stay below this
constexpr int64_t kShortRow = 256;  // bytes of a point of dy up to which a block of them fits L1 as it lies

}  // namespace

template <class T>
FilterPlan plan_filter(const ConvGeometry& g, int threads) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  FilterPlan p;
  p.threads = threads;
  p.segments = conv_segments(g, kBlockPoints);
  p.panel = sizeof(T) == 4 ? HWY_DYNAMIC_DISPATCH(panel_f32)() : HWY_DYNAMIC_DISPATCH(panel_f64)();
  p.group_panels = (g.group_filters() - 1) / p.panel + 1;
  p.rows = g.window_points() * g.group_channels();
  p.panel_elements = (p.rows + 1) * p.panel;
  p.packed = g.group_filters() % p.panel != 0 || g.filters * kSize > kShortRow;
  p.block =
      std::clamp<int64_t>(kBlockPoints / p.segments.points(), 1, std::max<int64_t>(p.segments.count, 1));
  p.task_panels = std::clamp<int64_t>(kTaskBytes / (p.panel_elements * kSize), 1, p.group_panels);
  p.group_tasks = (p.group_panels - 1) / p.task_panels + 1;
  p.task_elements = p.task_panels * p.panel_elements;
  const int64_t partial = p.task_elements * p.slice_tasks() * kSize;
  const int64_t blocks = std::max<int64_t>(1, divide_up(p.segments.count, p.block));
  p.slices = std::clamp<int64_t>(std::min(kTasks / p.slice_tasks(), kPartialBytes / partial), 1, blocks);
  const int64_t line = kAlign / kSize;
  p.strip_at = round_up(p.block * p.segments.buffer_elements(), line);
  const int64_t offsets = p.block_points() * (static_cast<int64_t>(sizeof(int64_t)) / kSize);
  p.thread_elements = p.strip_at + (p.packed ? p.block_points() * p.panel : 0) + round_up(offsets, line);
  return p;
}

template <class T>
int64_t filter_scratch_bytes(const FilterPlan& p) {
  return (p.tasks() * p.task_elements + p.threads * p.thread_elements) * static_cast<int64_t>(sizeof(T));
}

template <>
void run_filter(const FilterPlan& p, const float* x, const float* dy, float* dkernel, float* dbias,
                float* scratch) {
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

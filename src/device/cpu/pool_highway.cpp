// Pooling of f32 and of halves, worked on as f32, vectorised over channels, one task per some rows of the
// result. A result is made from the few rows of channels ("taps") that its window, or the windows over it,
// touch; in the inside of an image their places relative to the result are the same from point to point.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/pool_highway.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "device/cpu/pool_kernels.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "plimsoll/error.h"

#ifndef PLIMSOLL_DEVICE_CPU_POOL_ONCE_
#define PLIMSOLL_DEVICE_CPU_POOL_ONCE_
namespace plimsoll {
namespace {

constexpr int kMostTaps = 254;

// One row of channels that takes part: where it is, which point of the window it is, what it weighs.
struct Tap {
  int64_t at;  // element
  int32_t point;
  float weight;
};
struct Taps {
  std::array<Tap, kMostTaps> list;
  int count = 0;
};

// The state of all four kernels.
struct Pool {
  PoolGeometry g;
  bool index = false;
  int threads = 1;
  void (*run)(const Pool& p, void* const* args) = nullptr;  // for the processor and the type
};

enum class PoolTask { max, max_grad, average, average_grad };
using PoolRun = void (*)(const Pool& p, void* const* args);

// What one output point (od, oh, ow) sees: elements of x counted from the image's first.
inline void taps_of_window(const PoolGeometry& g, const ConvAxes& o, Taps& taps) {
  std::array<PoolSpan, kConvAxes> s;
  for (size_t a = 0; a < kConvAxes; ++a) s[a] = pool_window(g, a, o[a]);
  taps.count = 0;
  for (int64_t d = s[0].begin; d < s[0].end; ++d) {
    for (int64_t h = s[1].begin; h < s[1].end; ++h) {
      const int64_t row =
          (o[0] * g.stride[0] + d - g.pad_low[0]) * g.in[1] + o[1] * g.stride[1] + h - g.pad_low[1];
      const int64_t first = row * g.in[2] + o[2] * g.stride[2] - g.pad_low[2];
      const int64_t point = (d * g.window[1] + h) * g.window[2];
      for (int64_t w = s[2].begin; w < s[2].end; ++w) {
        taps.list[static_cast<size_t>(taps.count++)] = {(first + w) * g.channels,
                                                        static_cast<int32_t>(point + w), 1};
      }
    }
  }
}

// Which windows an input point lies in: elements of y counted from the image's first, each with the point of
// the window and, if `average`, one over the points inside.
inline void taps_over_point(const PoolGeometry& g, const ConvAxes& i, bool average, Taps& taps) {
  std::array<PoolSpan, kConvAxes> s;
  for (size_t a = 0; a < kConvAxes; ++a) s[a] = pool_windows_over(g, a, i[a]);
  const auto inside = [&](size_t a, int64_t o) {
    const PoolSpan span = pool_window(g, a, o);
    return span.end - span.begin;
  };
  taps.count = 0;
  for (int64_t d = s[0].begin; d < s[0].end; ++d) {
    for (int64_t h = s[1].begin; h < s[1].end; ++h) {
      for (int64_t w = s[2].begin; w < s[2].end; ++w) {
        const int64_t at = ((d * g.out[1] + h) * g.out[2] + w) * g.channels;
        const int64_t point =
            ((i[0] + g.pad_low[0] - d * g.stride[0]) * g.window[1] + i[1] + g.pad_low[1] - h * g.stride[1]) *
                g.window[2] +
            i[2] + g.pad_low[2] - w * g.stride[2];
        const float weight =
            average ? 1.0f / static_cast<float>(inside(0, d) * inside(1, h) * inside(2, w)) : 1.0f;
        taps.list[static_cast<size_t>(taps.count++)] = {at, static_cast<int32_t>(point), weight};
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The largest of kCount (or taps.count) taps for one row of channels.
template <int kCount, class S>
HWY_INLINE void max_row(const S* x, const Tap* taps, int count, size_t channels, S* y, uint8_t* index) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const int n = kCount > 0 ? kCount : count;
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto best = vm::load(d, x + taps[0].at + c);
    auto which = hn::Set(di, taps[0].point);
    for (int t = 1; t < n; ++t) {
      const auto v = vm::load(d, x + taps[t].at + c);
      const auto better = hn::Or(hn::Gt(v, best), hn::AndNot(hn::IsNaN(best), hn::IsNaN(v)));
      best = hn::IfThenElse(better, v, best);
      which = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, taps[t].point), which);
    }
    vm::store(best, d, y + c);
    if (index != nullptr) hn::StoreU(hn::DemoteTo(d8, which), d8, index + c);
  }
  for (; c < channels; ++c) {
    float best = plimsoll::load(x[taps[0].at + static_cast<int64_t>(c)]);
    int32_t which = taps[0].point;
    for (int t = 1; t < n; ++t) {
      const float v = plimsoll::load(x[taps[t].at + static_cast<int64_t>(c)]);
      if (v > best || (std::isnan(v) && !std::isnan(best))) best = v, which = taps[t].point;
    }
    plimsoll::store(y[c], best);
    if (index != nullptr) index[c] = static_cast<uint8_t>(which);
  }
}

template <class S>
HWY_INLINE void average_row(const S* x, const Tap* taps, int n, size_t channels, S* y) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const float weight = 1.0f / static_cast<float>(n);
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto sum = vm::load(d, x + taps[0].at + c);
    for (int t = 1; t < n; ++t) sum = hn::Add(sum, vm::load(d, x + taps[t].at + c));
    vm::store(hn::Mul(sum, hn::Set(d, weight)), d, y + c);
  }
  for (; c < channels; ++c) {
    float sum = plimsoll::load(x[taps[0].at + static_cast<int64_t>(c)]);
    for (int t = 1; t < n; ++t) sum += plimsoll::load(x[taps[t].at + static_cast<int64_t>(c)]);
    plimsoll::store(y[c], sum * weight);
  }
}

template <class S>
HWY_INLINE void max_grad_row(const S* dy, const uint8_t* index, const Taps& taps, size_t channels, S* dx) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto sum = hn::Zero(d);
    for (int t = 0; t < taps.count; ++t) {
      const Tap& tap = taps.list[static_cast<size_t>(t)];
      const auto which = hn::PromoteTo(di, hn::LoadU(d8, index + tap.at + c));
      const auto mine = hn::RebindMask(d, hn::Eq(which, hn::Set(di, tap.point)));
      sum = hn::Add(sum, hn::IfThenElseZero(mine, vm::load(d, dy + tap.at + c)));
    }
    vm::store(sum, d, dx + c);
  }
  for (; c < channels; ++c) {
    float sum = 0;
    for (int t = 0; t < taps.count; ++t) {
      const Tap& tap = taps.list[static_cast<size_t>(t)];
      const int64_t at = tap.at + static_cast<int64_t>(c);
      if (index[at] == tap.point) sum += plimsoll::load(dy[at]);
    }
    plimsoll::store(dx[c], sum);
  }
}

template <class S>
HWY_INLINE void average_grad_row(const S* dy, const Taps& taps, size_t channels, S* dx) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto sum = hn::Zero(d);
    for (int t = 0; t < taps.count; ++t) {
      const Tap& tap = taps.list[static_cast<size_t>(t)];
      sum = hn::MulAdd(hn::Set(d, tap.weight), vm::load(d, dy + tap.at + c), sum);
    }
    vm::store(sum, d, dx + c);
  }
  for (; c < channels; ++c) {
    float sum = 0;
    for (int t = 0; t < taps.count; ++t) {
      const Tap& tap = taps.list[static_cast<size_t>(t)];
      sum += tap.weight * plimsoll::load(dy[tap.at + static_cast<int64_t>(c)]);
    }
    plimsoll::store(dx[c], sum);
  }
}

ConvAxes axes_of(int64_t row, const ConvAxes& sizes) { return {row / sizes[1], row % sizes[1], 0}; }

// One row (n, d, h) of the output of max_pool (kMax) or average_pool.
template <bool kMax, class S>
void forward_row(const PoolGeometry& g, int64_t row, const S* x, S* y, uint8_t* index) {
  const int64_t rows = g.out[0] * g.out[1], channels = g.channels;
  const S* image = x + row / rows * g.in_points() * channels;
  ConvAxes o = axes_of(row % rows, g.out);
  Taps taps;
  bool inner = false;
  for (o[2] = 0; o[2] < g.out[2]; ++o[2]) {
    const PoolSpan span = pool_window(g, 2, o[2]);
    const bool whole = span.begin == 0 && span.end == g.window[2];
    if (inner && whole) {
      image += g.stride[2] * channels;  // the same taps, one window further
    } else {
      image = x + row / rows * g.in_points() * channels;
      taps_of_window(g, o, taps);
    }
    inner = whole;
    const int64_t at = (row * g.out[2] + o[2]) * channels;
    const auto n = static_cast<size_t>(channels);
    if constexpr (kMax) {
      uint8_t* const to = index == nullptr ? nullptr : index + at;
      if (taps.count == 4) {
        max_row<4>(image, taps.list.data(), 4, n, y + at, to);
      } else {
        max_row<0>(image, taps.list.data(), taps.count, n, y + at, to);
      }
    } else {
      average_row(image, taps.list.data(), taps.count, n, y + at);
    }
  }
}

// One row (n, d, h) of the input of max_pool (kMax) or average_pool.
template <bool kMax, class S>
void backward_row(const PoolGeometry& g, int64_t row, const S* dy, const uint8_t* index, S* dx) {
  const int64_t rows = g.in[0] * g.in[1], image = row / rows * g.out_points() * g.channels;
  ConvAxes i = axes_of(row % rows, g.in);
  Taps taps;
  for (i[2] = 0; i[2] < g.in[2]; ++i[2]) {
    taps_over_point(g, i, !kMax, taps);
    S* const to = dx + (row * g.in[2] + i[2]) * g.channels;
    const auto n = static_cast<size_t>(g.channels);
    if constexpr (kMax) {
      max_grad_row(dy + image, index + image, taps, n, to);
    } else {
      average_grad_row(dy + image, taps, n, to);
    }
  }
}

// The rows of dx under one row of disjoint windows of one image (d is the plane, h the row of windows).
template <class S>
void spread_row(const PoolGeometry& g, const S* dy, const uint8_t* index, int64_t h, S* dx) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d), channels = static_cast<size_t>(g.channels);
  const int64_t width = g.in[2] * g.channels;
  const int64_t end = h + 1 == g.out[1] ? g.in[1] : (h + 1) * g.stride[1];
  for (int64_t r = h * g.stride[1]; r < end; ++r) {
    S* const to = dx + r * width;
    const int64_t k = r - h * g.stride[1];
    if (k >= g.window[1]) {
      std::fill_n(to, width, S{});
      continue;
    }
    for (int64_t o = 0; o < g.out[2]; ++o) {
      const S* from = dy + o * g.channels;
      const uint8_t* from_index = index + o * g.channels;
      const int64_t last = o + 1 == g.out[2] ? g.in[2] : (o + 1) * g.stride[2];
      for (int64_t w = o * g.stride[2]; w < last; ++w) {
        S* const cell = to + w * g.channels;
        if (w - o * g.stride[2] >= g.window[2]) {
          std::fill_n(cell, channels, S{});
          continue;
        }
        const auto point = static_cast<int32_t>(k * g.window[2] + w - o * g.stride[2]);
        size_t c = 0;
        for (; c + lanes <= channels; c += lanes) {
          const auto which = hn::PromoteTo(di, hn::LoadU(d8, from_index + c));
          const auto mine = hn::RebindMask(d, hn::Eq(which, hn::Set(di, point)));
          vm::store(hn::IfThenElseZero(mine, vm::load(d, from + c)), d, cell + c);
        }
        for (; c < channels; ++c) cell[c] = from_index[c] == point ? from[c] : S{};
      }
    }
  }
}

template <class S>
void max_pool(const Pool& p, const S* x, S* y, uint8_t* index) {
  const int64_t rows = p.g.batch * p.g.out[0] * p.g.out[1];
  parallel_rows(rows, p.g.out[2] * p.g.channels * p.g.window_points(), p.threads,
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) forward_row<true>(p.g, row, x, y, index);
                });
}

template <class S>
void average_pool(const Pool& p, const S* x, S* y) {
  const int64_t rows = p.g.batch * p.g.out[0] * p.g.out[1];
  parallel_rows(rows, p.g.out[2] * p.g.channels * p.g.window_points(), p.threads,
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) forward_row<false>(p.g, row, x, y, nullptr);
                });
}

template <class S>
void max_pool_grad(const Pool& p, const S* dy, const uint8_t* index, S* dx) {
  const PoolGeometry& g = p.g;
  if (g.in[0] == 1 && g.disjoint()) {
    const int64_t y_row = g.out[2] * g.channels, image = g.in_points() * g.channels;
    parallel_rows(g.batch * g.out[1], image / g.out[1], p.threads, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        spread_row(g, dy + row * y_row, index + row * y_row, row % g.out[1], dx + row / g.out[1] * image);
      }
    });
    return;
  }
  parallel_rows(g.batch * g.in[0] * g.in[1], g.in[2] * g.channels * 4, p.threads,
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) backward_row<true>(g, row, dy, index, dx);
                });
}

template <class S>
void average_pool_grad(const Pool& p, const S* dy, S* dx) {
  const PoolGeometry& g = p.g;
  parallel_rows(g.batch * g.in[0] * g.in[1], g.in[2] * g.channels * 4, p.threads,
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) backward_row<false>(g, row, dy, nullptr, dx);
                });
}

template <class S>
void run_max_pool(const Pool& p, void* const* args) {
  max_pool(p, static_cast<const S*>(args[0]), static_cast<S*>(args[1]),
           p.index ? static_cast<uint8_t*>(args[2]) : nullptr);
}
template <class S>
void run_average_pool(const Pool& p, void* const* args) {
  average_pool(p, static_cast<const S*>(args[0]), static_cast<S*>(args[1]));
}
template <class S>
void run_max_pool_grad(const Pool& p, void* const* args) {
  max_pool_grad(p, static_cast<const S*>(args[0]), static_cast<const uint8_t*>(args[1]),
                static_cast<S*>(args[2]));
}
template <class S>
void run_average_pool_grad(const Pool& p, void* const* args) {
  average_pool_grad(p, static_cast<const S*>(args[0]), static_cast<S*>(args[1]));
}

template <class S>
PoolRun run_as(PoolTask task) {
  switch (task) {
    case PoolTask::max: return run_max_pool<S>;
    case PoolTask::max_grad: return run_max_pool_grad<S>;
    case PoolTask::average: return run_average_pool<S>;
    case PoolTask::average_grad: return run_average_pool_grad<S>;
  }
  return nullptr;
}

PoolRun pool_run(PoolTask task, DType dtype) {
  if (dtype == DType::bf16) return run_as<BrainBits>(task);
  if (dtype == DType::f16) return run_as<HalfBits>(task);
  return run_as<float>(task);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(pool_run);

void run(const Pool& p, void* const* args) { p.run(p, args); }

Kernel own(const KernelQuery& q, PoolTask task) {
  const bool forward = task == PoolTask::max || task == PoolTask::average;
  const PoolGeometry g = pool_geometry("pool", forward ? q.in[0].shape : q.out[0].shape, q.attrs);
  if (g.window_points() > kMostTaps) fail(ErrorKind::unsupported, "pool", "window too large");
  return make_kernel<Pool, run>(
      "highway", Pool{g, q.out.size() == 2, q.threads, HWY_DYNAMIC_DISPATCH(pool_run)(task, q.in[0].dtype)});
}

}  // namespace

namespace highway {

bool pool_fits(const KernelQuery& q) { return q.in[0].dtype != DType::f64; }
Kernel prepare_max_pool(const KernelQuery& q) { return own(q, PoolTask::max); }
Kernel prepare_max_pool_grad(const KernelQuery& q) { return own(q, PoolTask::max_grad); }
Kernel prepare_average_pool(const KernelQuery& q) { return own(q, PoolTask::average); }
Kernel prepare_average_pool_grad(const KernelQuery& q) { return own(q, PoolTask::average_grad); }

}  // namespace highway
}  // namespace plimsoll
#endif

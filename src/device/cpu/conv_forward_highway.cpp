// Convolution, our own way. The kernel is packed into panels of two vectors of filters; a tile of 6 output
// points by one panel stays in registers while the window goes by: per element of the window two vectors of
// the panel and 6 broadcasts from the input, which is read where it lies. A task is one segment of the
// output, so each result is one sum in one order, whatever the number of threads.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/conv_forward_highway.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "device/aligned.h"
#include "device/cpu/conv_forward_highway.h"
#include "device/cpu/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kPoints = 6;

// sums[i, panel] = sum over rows of points[i][row] * panel[row], 6 points at once.
template <class T>
HWY_INLINE void forward_tile(const ForwardPlan& p, const T* const* points, const T* panel, T* sums) {
  const hn::ScalableTag<T> d;
  const size_t n = hn::Lanes(d);
  auto a0 = hn::Zero(d), b0 = a0, a1 = a0, b1 = a0, a2 = a0, b2 = a0;
  auto a3 = a0, b3 = a0, a4 = a0, b4 = a0, a5 = a0, b5 = a0;
  for (const ForwardPlan::Run& run : p.runs) {
    const T* x0 = points[0] + run.offset;
    const T* x1 = points[1] + run.offset;
    const T* x2 = points[2] + run.offset;
    const T* x3 = points[3] + run.offset;
    const T* x4 = points[4] + run.offset;
    const T* x5 = points[5] + run.offset;
    for (int64_t j = 0; j < run.length; ++j) {
      const auto lo = hn::Load(d, panel), hi = hn::Load(d, panel + n);
      panel += 2 * n;
      auto v = hn::Set(d, x0[j]);
      a0 = hn::MulAdd(v, lo, a0), b0 = hn::MulAdd(v, hi, b0);
      v = hn::Set(d, x1[j]), a1 = hn::MulAdd(v, lo, a1), b1 = hn::MulAdd(v, hi, b1);
      v = hn::Set(d, x2[j]), a2 = hn::MulAdd(v, lo, a2), b2 = hn::MulAdd(v, hi, b2);
      v = hn::Set(d, x3[j]), a3 = hn::MulAdd(v, lo, a3), b3 = hn::MulAdd(v, hi, b3);
      v = hn::Set(d, x4[j]), a4 = hn::MulAdd(v, lo, a4), b4 = hn::MulAdd(v, hi, b4);
      v = hn::Set(d, x5[j]), a5 = hn::MulAdd(v, lo, a5), b5 = hn::MulAdd(v, hi, b5);
    }
  }
  hn::Store(a0, d, sums), hn::Store(b0, d, sums + n);
  hn::Store(a1, d, sums + 2 * n), hn::Store(b1, d, sums + 3 * n);
  hn::Store(a2, d, sums + 4 * n), hn::Store(b2, d, sums + 5 * n);
  hn::Store(a3, d, sums + 6 * n), hn::Store(b3, d, sums + 7 * n);
  hn::Store(a4, d, sums + 8 * n), hn::Store(b4, d, sums + 9 * n);
  hn::Store(a5, d, sums + 10 * n), hn::Store(b5, d, sums + 11 * n);
}

template <class T>
T activate(Activation activation, T v) {
  switch (activation) {
    case Activation::linear: return v;
    case Activation::relu: return v > 0 || std::isnan(v) ? v : T{0};
    case Activation::sigmoid: return 1 / (1 + std::exp(-v));
    case Activation::tanh: return std::tanh(v);
    case Activation::gelu: return T{0.5} * v * (1 + std::erf(v * static_cast<T>(0.70710678118654752)));
    case Activation::gelu_tanh: {
      const T inner = static_cast<T>(0.79788456080286536) * (v + static_cast<T>(0.044715) * v * v * v);
      return T{0.5} * v * (1 + std::tanh(inner));
    }
    case Activation::silu: return v / (1 + std::exp(-v));
  }
  return v;
}

// Stores `width` results of one point, at element `at` of y, for filters from `first` on.
template <class T>
void finish_point(const Epilogue<T>& e, const T* sums, int64_t first, int64_t width, int64_t at, T* y) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (width == 2 * lanes && e.activation <= Activation::relu) {
    const auto zero = hn::Zero(d);
    for (int64_t k = 0; k < width; k += lanes) {
      auto v = hn::Load(d, sums + k);
      if (e.scale != nullptr) v = hn::Mul(v, hn::LoadU(d, e.scale + first + k));
      if (e.bias != nullptr) v = hn::Add(v, hn::LoadU(d, e.bias + first + k));
      if (e.residual != nullptr) v = hn::Add(v, hn::LoadU(d, e.residual + at + k));
      if (e.activation == Activation::relu) v = hn::IfThenElse(hn::Lt(v, zero), zero, v);
      hn::StoreU(v, d, y + at + k);
    }
    return;
  }
  for (int64_t k = 0; k < width; ++k) {
    T v = sums[k];
    if (e.scale != nullptr) v *= e.scale[first + k];
    if (e.bias != nullptr) v += e.bias[first + k];
    if (e.residual != nullptr) v += e.residual[at + k];
    y[at + k] = activate(e.activation, v);
  }
}

template <class T>
void forward_segment(const ForwardPlan& p, int64_t task, const T* x, const T* packed, const Epilogue<T>& e,
                     T* y, T* buffer) {
  const ConvGeometry& g = p.segments.g;
  const ConvSegment segment = p.segments.segment(task);
  const T* const source = gather(p.segments, segment, x, buffer);
  const int64_t points = segment.points(), first_point = p.segments.first_point(segment);
  HWY_ALIGN std::array<T, kPoints * 2 * hn::MaxLanes(hn::ScalableTag<T>())> sums;
  for (int64_t panel = 0; panel < p.panels(); ++panel) {
    const int64_t group = panel / p.group_panels, within = panel % p.group_panels * p.panel;
    const int64_t first = group * g.group_filters() + within;
    const int64_t width = std::min(p.panel, g.group_filters() - within);
    const T* const from = source + group * g.group_channels();
    for (int64_t at = 0; at < points; at += kPoints) {
      const int64_t count = std::min<int64_t>(kPoints, points - at);
      std::array<const T*, kPoints> inputs;
      for (int64_t i = 0; i < kPoints; ++i) {  // points past the end repeat the last one
        const int64_t point = at + std::min(i, count - 1);
        inputs[static_cast<size_t>(i)] = from + p.segments.point_offset[static_cast<size_t>(point)];
      }
      forward_tile(p, inputs.data(), packed + panel * p.rows * p.panel, sums.data());
      for (int64_t i = 0; i < count; ++i) {
        finish_point(e, sums.data() + i * p.panel, first, width, (first_point + at + i) * g.filters + first,
                     y);
      }
    }
  }
}

// One panel of the kernel: rows of `panel` filters, zeros behind the last.
template <class T>
void pack_kernel(const ForwardPlan& p, int64_t panel, const T* kernel, T* to) {
  const ConvGeometry& g = p.segments.g;
  const int64_t gc = g.group_channels(), gf = g.group_filters(), windows = g.window_points();
  const int64_t group = panel / p.group_panels, within = panel % p.group_panels * p.panel;
  const int64_t width = std::min(p.panel, gf - within);
  for (int64_t w = 0; w < windows; ++w) {
    for (int64_t c = 0; c < gc; ++c, to += p.panel) {
      if (p.turned) {
        // The kernel as given is (window, gf, groups * gc): its filters are our channels.
        const T* from = kernel + ((windows - 1 - w) * gf + within) * g.channels + group * gc + c;
        for (int64_t k = 0; k < width; ++k) to[k] = from[k * g.channels];
      } else {
        std::copy_n(kernel + (w * gc + c) * g.filters + group * gf + within, width, to);
      }
      std::fill(to + width, to + p.panel, T{0});
    }
  }
}

template <class T>
void forward_all(const ForwardPlan& p, const T* x, const T* kernel, const Epilogue<T>& e, T* y, T* scratch) {
  parallel_for(p.panels(), p.threads, [&](int64_t panel, int) noexcept {
    pack_kernel(p, panel, kernel, scratch + panel * p.rows * p.panel);
  });
  parallel_for(p.segments.count, p.threads, [&](int64_t task, int thread) noexcept {
    forward_segment(p, task, x, scratch, e, y, scratch + p.packed_elements + thread * p.thread_elements);
  });
}

int64_t forward_panel_f32() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<float>())); }
int64_t forward_panel_f64() { return static_cast<int64_t>(2 * hn::Lanes(hn::ScalableTag<double>())); }
void forward_f32(const ForwardPlan& p, const float* x, const float* kernel, const Epilogue<float>& e,
                 float* y, float* scratch) {
  forward_all(p, x, kernel, e, y, scratch);
}
void forward_f64(const ForwardPlan& p, const double* x, const double* kernel, const Epilogue<double>& e,
                 double* y, double* scratch) {
  forward_all(p, x, kernel, e, y, scratch);
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(forward_panel_f32);
HWY_EXPORT(forward_panel_f64);
HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);

namespace {

constexpr int64_t kSegmentPoints = 240;  // some hundred tiles: enough work for a task, and its input fits L2

std::vector<ForwardPlan::Run> runs_of(const ConvSegments& s) {
  std::vector<ForwardPlan::Run> runs;
  for (const int64_t offset : s.window_offset) {
    if (!runs.empty() && runs.back().offset + runs.back().length == offset) {
      runs.back().length += s.g.group_channels();
    } else {
      runs.push_back({offset, s.g.group_channels()});
    }
  }
  return runs;
}

}  // namespace

ConvGeometry data_gradient(const ConvGeometry& g) {
  ConvGeometry d = g;
  std::swap(d.channels, d.filters);
  std::swap(d.in, d.out);
  std::swap(d.stride, d.in_dilation);
  for (size_t a = 0; a < kConvAxes; ++a) {
    const int64_t reach = (g.window[a] - 1) * g.dilation[a] + 1;
    d.pad_low[a] = reach - 1 - g.pad_low[a];
    // dx has its last element at (in - 1) * in_dilation of the padded axis.
    d.pad_high[a] =
        (g.in[a] - 1) * g.in_dilation[a] + reach - d.pad_low[a] - (g.out[a] - 1) * g.stride[a] - 1;
  }
  return d;
}

template <class T>
ForwardPlan plan_forward(const ConvGeometry& g, bool turned, int threads) {
  ForwardPlan p;
  p.segments = conv_segments(g, kSegmentPoints);
  p.panel =
      sizeof(T) == 4 ? HWY_DYNAMIC_DISPATCH(forward_panel_f32)() : HWY_DYNAMIC_DISPATCH(forward_panel_f64)();
  p.group_panels = (g.group_filters() - 1) / p.panel + 1;
  p.rows = g.window_points() * g.group_channels();
  p.runs = runs_of(p.segments);
  p.turned = turned;
  p.threads = threads;
  p.packed_elements = p.panels() * p.rows * p.panel;
  p.thread_elements = round_up(p.segments.buffer_elements(), static_cast<int64_t>(kAlign / sizeof(T)));
  return p;
}

template <class T>
int64_t forward_scratch_bytes(const ForwardPlan& p) {
  return (p.packed_elements + p.threads * p.thread_elements) * static_cast<int64_t>(sizeof(T));
}

template <>
void run_forward(const ForwardPlan& p, const float* x, const float* kernel, const Epilogue<float>& epilogue,
                 float* y, float* scratch) {
  HWY_DYNAMIC_DISPATCH(forward_f32)(p, x, kernel, epilogue, y, scratch);
}
template <>
void run_forward(const ForwardPlan& p, const double* x, const double* kernel,
                 const Epilogue<double>& epilogue, double* y, double* scratch) {
  HWY_DYNAMIC_DISPATCH(forward_f64)(p, x, kernel, epilogue, y, scratch);
}

template ForwardPlan plan_forward<float>(const ConvGeometry&, bool, int);
template ForwardPlan plan_forward<double>(const ConvGeometry&, bool, int);
template int64_t forward_scratch_bytes<float>(const ForwardPlan&);
template int64_t forward_scratch_bytes<double>(const ForwardPlan&);

}  // namespace plimsoll
#endif

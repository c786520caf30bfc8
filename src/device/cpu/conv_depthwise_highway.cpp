#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/conv_depthwise_highway.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "device/aligned.h"
#include "device/cpu/conv_depthwise_highway.h"
#include "device/cpu/thread_pool.h"
#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// y[c] = sum over the window of x[offset + c] * kernel[w, c] for one output point.
template <class T>
HWY_INLINE void depthwise_point(const DepthwisePlan& p, const T* x, const T* kernel, T* y) {
  const hn::ScalableTag<T> d;
  const auto channels = static_cast<size_t>(p.segments.g.channels);
  const int64_t windows = std::ssize(p.segments.window_offset);
  vm::for_vectors(d, channels, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (int64_t w = 0; w < windows; ++w) {
      const int64_t k = p.turned ? windows - 1 - w : w;
      const T* from = x + p.segments.window_offset[static_cast<size_t>(w)];
      sum = hn::MulAdd(load(from, T{0}), load(kernel + k * p.segments.g.channels, T{0}), sum);
    }
    store(sum, y);
  });
}

template <class T>
void depthwise_segment(const DepthwisePlan& p, int64_t task, const T* x, const T* kernel, T* y, T* buffer) {
  const ConvGeometry& g = p.segments.g;
  const ConvSegment segment = p.segments.segment(task);
  const T* const source = gather(p.segments, segment, x, buffer);
  const int64_t points = segment.points();
  T* const to = y + p.segments.first_point(segment) * g.channels;
  for (int64_t i = 0; i < points; ++i) {
    depthwise_point(p, source + p.segments.point_offset[static_cast<size_t>(i)], kernel, to + i * g.channels);
  }
}

// Adds what one segment gives to sums: a row of channels per window point, then the bias.
template <class T>
void filter_segment(const DepthwisePlan& p, int64_t index, const T* x, const T* dy, T* sums, T* buffer) {
  const hn::ScalableTag<T> d;
  const ConvGeometry& g = p.segments.g;
  const ConvSegment segment = p.segments.segment(index);
  const T* const source = gather(p.segments, segment, x, buffer);
  const T* const from = dy + p.segments.first_point(segment) * g.channels;
  const int64_t points = segment.points(), windows = std::ssize(p.segments.window_offset);
  for (int64_t w = 0; w <= windows; ++w) {
    T* const row = sums + w * g.channels;
    const T* const seen = w < windows ? source + p.segments.window_offset[static_cast<size_t>(w)] : nullptr;
    vm::for_vectors(
        d, static_cast<size_t>(g.channels), [&](size_t, const auto& load, const auto& store) HWY_ATTR {
          auto sum = load(row, T{0});
          for (int64_t i = 0; i < points; ++i) {
            const auto v = load(from + i * g.channels, T{0});
            sum =
                seen == nullptr
                    ? hn::Add(sum, v)
                    : hn::MulAdd(v, load(seen + p.segments.point_offset[static_cast<size_t>(i)], T{0}), sum);
          }
          store(sum, row);
        });
  }
}

template <class T>
void depthwise_all(const DepthwisePlan& p, const T* x, const T* kernel, T* y, T* scratch) {
  parallel_for(p.segments.count, p.threads, [&](int64_t task, int thread) noexcept {
    depthwise_segment(p, task, x, kernel, y, scratch + thread * p.thread_elements);
  });
}

template <class T>
void depthwise_filter_all(const DepthwisePlan& p, const T* x, const T* dy, T* dkernel, T* dbias, T* scratch) {
  const int64_t kernel = p.segments.g.kernel_elements(), table = kernel + p.segments.g.channels;
  T* const buffers = scratch + p.slices * table;
  parallel_for(p.slices, p.threads, [&](int64_t slice, int thread) noexcept {
    T* const sums = scratch + slice * table;
    std::fill_n(sums, table, T{0});
    const int64_t end = p.segments.count * (slice + 1) / p.slices;
    for (int64_t i = p.segments.count * slice / p.slices; i < end; ++i) {
      filter_segment(p, i, x, dy, sums, buffers + thread * p.thread_elements);
    }
  });
  for (int64_t s = 1; s < p.slices; ++s) {
    for (int64_t i = 0; i < table; ++i) scratch[i] += scratch[s * table + i];
  }
  std::copy_n(scratch, kernel, dkernel);
  if (dbias != nullptr) std::copy_n(scratch + kernel, p.segments.g.channels, dbias);
}

void depthwise_f32(const DepthwisePlan& p, const float* x, const float* k, float* y, float* s) {
  depthwise_all(p, x, k, y, s);
}
void depthwise_f64(const DepthwisePlan& p, const double* x, const double* k, double* y, double* s) {
  depthwise_all(p, x, k, y, s);
}
void filter_f32(const DepthwisePlan& p, const float* x, const float* dy, float* dk, float* db, float* s) {
  depthwise_filter_all(p, x, dy, dk, db, s);
}
void filter_f64(const DepthwisePlan& p, const double* x, const double* dy, double* dk, double* db,
                double* s) {
  depthwise_filter_all(p, x, dy, dk, db, s);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(depthwise_f32);
HWY_EXPORT(depthwise_f64);
HWY_EXPORT(filter_f32);
HWY_EXPORT(filter_f64);

constexpr int64_t kSegmentPoints = 128;  // their input and output fit L2 for a few hundred channels
constexpr int64_t kSlices = 32;

}  // namespace

bool is_depthwise(const ConvGeometry& g) {
  return g.groups == g.channels && g.groups == g.filters && g.groups > 1;
}

template <class T>
DepthwisePlan plan_depthwise(const ConvGeometry& g, bool turned, bool sums, int threads) {
  DepthwisePlan p;
  p.segments = conv_segments(g, kSegmentPoints);
  p.turned = turned;
  p.threads = threads;
  if (sums) p.slices = std::clamp<int64_t>(p.segments.count, 1, kSlices);
  const auto line = static_cast<int64_t>(kAlign / sizeof(T));
  p.thread_elements = round_up(p.segments.buffer_elements(), line);
  return p;
}

template <class T>
int64_t depthwise_scratch_bytes(const DepthwisePlan& p, bool sums) {
  const ConvGeometry& g = p.segments.g;
  const int64_t tables = sums ? p.slices * (g.kernel_elements() + g.channels) : 0;
  return (tables + p.threads * p.thread_elements) * static_cast<int64_t>(sizeof(T));
}

template <>
void run_depthwise(const DepthwisePlan& p, const float* x, const float* kernel, float* y, float* scratch) {
  HWY_DYNAMIC_DISPATCH(depthwise_f32)(p, x, kernel, y, scratch);
}
template <>
void run_depthwise(const DepthwisePlan& p, const double* x, const double* kernel, double* y,
                   double* scratch) {
  HWY_DYNAMIC_DISPATCH(depthwise_f64)(p, x, kernel, y, scratch);
}
template <>
void run_depthwise_filter(const DepthwisePlan& p, const float* x, const float* dy, float* dkernel,
                          float* dbias, float* scratch) {
  HWY_DYNAMIC_DISPATCH(filter_f32)(p, x, dy, dkernel, dbias, scratch);
}
template <>
void run_depthwise_filter(const DepthwisePlan& p, const double* x, const double* dy, double* dkernel,
                          double* dbias, double* scratch) {
  HWY_DYNAMIC_DISPATCH(filter_f64)(p, x, dy, dkernel, dbias, scratch);
}

template DepthwisePlan plan_depthwise<float>(const ConvGeometry&, bool, bool, int);
template DepthwisePlan plan_depthwise<double>(const ConvGeometry&, bool, bool, int);
template int64_t depthwise_scratch_bytes<float>(const DepthwisePlan&, bool);
template int64_t depthwise_scratch_bytes<double>(const DepthwisePlan&, bool);

}  // namespace plimsoll
#endif

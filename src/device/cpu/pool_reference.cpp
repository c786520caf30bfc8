// Pooling as plain loops over the rows of channels of the result: the oracle, and the kernels for float64 and
// for windows too large for pool_highway.cpp. Rows of the result are independent, so they are shared among
// the threads.
#include <algorithm>
#include <array>
#include <cmath>

#include "device/cpu/pool_kernels.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/widened.h"
#include "plimsoll/error.h"

namespace plimsoll {

void require_byte_index(std::string_view op, const PoolGeometry& g) {
  require(g.window_points() < kNoIndex, op, "expected a window of at most 254 points, got ",
          g.window_points());
}

namespace reference {
namespace {

ConvAxes axes_of(int64_t point, const ConvAxes& sizes) {
  return {point / (sizes[1] * sizes[2]), point / sizes[2] % sizes[1], point % sizes[2]};
}

// Calls f(x_row, w) for every point of the window of output row `row` that lies inside x.
template <class F>
void for_each_in_window(const PoolGeometry& g, int64_t row, const F& f) {
  const int64_t first = row / g.out_points() * g.in_points();
  const ConvAxes o = axes_of(row % g.out_points(), g.out);
  std::array<PoolSpan, kConvAxes> s;
  for (size_t a = 0; a < kConvAxes; ++a) s[a] = pool_window(g, a, o[a]);
  const auto place = [&](size_t a, int64_t k) { return o[a] * g.stride[a] + k - g.pad_low[a]; };
  for (int64_t d = s[0].begin; d < s[0].end; ++d) {
    for (int64_t h = s[1].begin; h < s[1].end; ++h) {
      for (int64_t w = s[2].begin; w < s[2].end; ++w) {
        f(first + (place(0, d) * g.in[1] + place(1, h)) * g.in[2] + place(2, w),
          (d * g.window[1] + h) * g.window[2] + w);
      }
    }
  }
}

// Calls f(y_row, w) for every output row over whose window's point w input row `row` lies.
template <class F>
void for_each_window_over(const PoolGeometry& g, int64_t row, const F& f) {
  const int64_t first = row / g.in_points() * g.out_points();
  const ConvAxes i = axes_of(row % g.in_points(), g.in);
  std::array<PoolSpan, kConvAxes> s;
  for (size_t a = 0; a < kConvAxes; ++a) s[a] = pool_windows_over(g, a, i[a]);
  const auto point = [&](size_t a, int64_t o) { return i[a] + g.pad_low[a] - o * g.stride[a]; };
  for (int64_t d = s[0].begin; d < s[0].end; ++d) {
    for (int64_t h = s[1].begin; h < s[1].end; ++h) {
      for (int64_t w = s[2].begin; w < s[2].end; ++w) {
        f(first + (d * g.out[1] + h) * g.out[2] + w,
          (point(0, d) * g.window[1] + point(1, h)) * g.window[2] + point(2, w));
      }
    }
  }
}

template <class T>
T count_inside(const PoolGeometry& g, int64_t row) {
  const ConvAxes o = axes_of(row % g.out_points(), g.out);
  int64_t count = 1;
  for (size_t a = 0; a < kConvAxes; ++a) {
    const PoolSpan span = pool_window(g, a, o[a]);
    count *= span.end - span.begin;
  }
  return static_cast<T>(count);
}

// One row of the result each. `row` counts rows of channels.
template <class T>
void max_row(const PoolGeometry& g, int64_t row, const T* x, T* y, uint8_t* index) {
  T* const to = y + row * g.channels;
  uint8_t* const at = index == nullptr ? nullptr : index + row * g.channels;
  bool first = true;
  for_each_in_window(g, row, [&](int64_t x_row, int64_t w) {
    const T* from = x + x_row * g.channels;
    for (int64_t c = 0; c < g.channels; ++c) {
      if (!first && !(from[c] > to[c] || (std::isnan(from[c]) && !std::isnan(to[c])))) continue;
      to[c] = from[c];
      if (at != nullptr) at[c] = static_cast<uint8_t>(w);
    }
    first = false;
  });
}

template <class T>
void max_grad_row(const PoolGeometry& g, int64_t row, const T* dy, const uint8_t* index, T* dx) {
  T* const to = dx + row * g.channels;
  std::fill_n(to, g.channels, T{0});
  for_each_window_over(g, row, [&](int64_t y_row, int64_t w) {
    for (int64_t c = 0; c < g.channels; ++c) {
      if (index[y_row * g.channels + c] == w) to[c] += dy[y_row * g.channels + c];
    }
  });
}

template <class T>
void take_row(const PoolGeometry& g, int64_t row, const T* x, const uint8_t* index, T* y) {
  T* const to = y + row * g.channels;
  std::fill_n(to, g.channels, T{0});
  for_each_in_window(g, row, [&](int64_t x_row, int64_t w) {
    for (int64_t c = 0; c < g.channels; ++c) {
      if (index[row * g.channels + c] == w) to[c] = x[x_row * g.channels + c];
    }
  });
}

template <class T>
void average_row(const PoolGeometry& g, int64_t row, const T* x, T* y) {
  T* const to = y + row * g.channels;
  std::fill_n(to, g.channels, T{0});
  for_each_in_window(g, row, [&](int64_t x_row, int64_t) {
    for (int64_t c = 0; c < g.channels; ++c) to[c] += x[x_row * g.channels + c];
  });
  const T count = count_inside<T>(g, row);
  for (int64_t c = 0; c < g.channels; ++c) to[c] /= count;
}

template <class T>
void average_grad_row(const PoolGeometry& g, int64_t row, const T* dy, T* dx) {
  T* const to = dx + row * g.channels;
  std::fill_n(to, g.channels, T{0});
  for_each_window_over(g, row, [&](int64_t y_row, int64_t) {
    const T count = count_inside<T>(g, y_row);
    for (int64_t c = 0; c < g.channels; ++c) to[c] += dy[y_row * g.channels + c] / count;
  });
}

enum class Task { max_pool, max_pool_grad, max_pool_take, average_pool, average_pool_grad };
struct State {
  PoolGeometry g;
  Task task;
  DType dtype;
  bool index;
  int threads;
  int64_t rows, work;  // of the result; elements that one row touches
};

template <class T>
void run_row(const State& s, void* const* args, int64_t row) {
  const T* in = static_cast<const T*>(args[0]);
  switch (s.task) {
    case Task::max_pool:
      return max_row<T>(s.g, row, in, static_cast<T*>(args[1]),
                        s.index ? static_cast<uint8_t*>(args[2]) : nullptr);
    case Task::max_pool_grad:
      return max_grad_row<T>(s.g, row, in, static_cast<const uint8_t*>(args[1]), static_cast<T*>(args[2]));
    case Task::max_pool_take:
      return take_row<T>(s.g, row, in, static_cast<const uint8_t*>(args[1]), static_cast<T*>(args[2]));
    case Task::average_pool: return average_row<T>(s.g, row, in, static_cast<T*>(args[1]));
    case Task::average_pool_grad: return average_grad_row<T>(s.g, row, in, static_cast<T*>(args[1]));
  }
}

void run(const State& s, void* const* args) {
  parallel_rows(s.rows, s.work, s.threads, [&](int64_t begin, int64_t end) noexcept {
    for (int64_t row = begin; row < end; ++row) {
      s.dtype == DType::f64 ? run_row<double>(s, args, row) : run_row<float>(s, args, row);
    }
  });
}

// kForward: the geometry is that of the input, else of the output.
template <Task kTask, bool kForward>
Kernel plain(const KernelQuery& q) {
  const PoolGeometry g = pool_geometry("pool", kForward ? q.in[0].shape : q.out[0].shape, q.attrs);
  const int64_t rows = g.batch * (kForward ? g.out_points() : g.in_points());
  int64_t points = 1;  // rows that one row of the result is made of, about
  for (size_t a = 0; a < kConvAxes; ++a)
    points *= kForward ? g.window[a] : (g.window[a] - 1) / g.stride[a] + 1;
  return make_kernel<State, run>(
      "reference", {g, kTask, q.in[0].dtype, q.out.size() == 2, q.threads, rows, points * g.channels});
}

}  // namespace

namespace {

// Images are independent, and all arguments are images.
template <Task kTask, bool kForward>
Kernel by_image(const KernelQuery& q) {
  return prepare_widened(q, plain<kTask, kForward>, {.length = q.in[0].shape[0], .in = ~0u, .out = ~0u});
}

}  // namespace

Kernel prepare_max_pool(const KernelQuery& q) { return by_image<Task::max_pool, true>(q); }
Kernel prepare_max_pool_grad(const KernelQuery& q) { return by_image<Task::max_pool_grad, false>(q); }
Kernel prepare_max_pool_take(const KernelQuery& q) { return by_image<Task::max_pool_take, true>(q); }
Kernel prepare_average_pool(const KernelQuery& q) { return by_image<Task::average_pool, true>(q); }
Kernel prepare_average_pool_grad(const KernelQuery& q) { return by_image<Task::average_pool_grad, false>(q); }

}  // namespace reference
}  // namespace plimsoll

// Pooling as plain loops over output points and their windows: the oracle, and the kernels for float64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "device/cpu/pool_kernels.h"
#include "device/cpu/widened.h"
#include "plimsoll/error.h"

namespace plimsoll {

void require_byte_index(std::string_view op, const PoolGeometry& g) {
  require(g.window_points() < kNoIndex, op, "expected a window of at most 254 points, got ", g.window_points());
}

namespace reference {
namespace {

// Calls f(y_row, x_row, w) for every output point, every point of its window inside x: rows of channels.
template <class F>
void for_each_pair(const PoolGeometry& g, F&& f) {
  for (int64_t row = 0; row < g.batch * g.out_points(); ++row) {
    const int64_t n = row / g.out_points(), o = row % g.out_points();
    const ConvAxes at{o / (g.out[1] * g.out[2]), o / g.out[2] % g.out[1], o % g.out[2]};
    for (int64_t w = 0; w < g.window_points(); ++w) {
      const ConvAxes k{w / (g.window[1] * g.window[2]), w / g.window[2] % g.window[1], w % g.window[2]};
      int64_t i = 0;
      bool inside = true;
      for (size_t a = 0; a < kConvAxes; ++a) {
        const int64_t place = at[a] * g.stride[a] + k[a] - g.pad_low[a];
        inside = inside && place >= 0 && place < g.in[a];
        i = i * g.in[a] + place;
      }
      if (inside) f(row, n * g.in_points() + i, w);
    }
  }
}

double count_inside(const PoolGeometry& g, int64_t o) {
  const ConvAxes at{o / (g.out[1] * g.out[2]), o / g.out[2] % g.out[1], o % g.out[2]};
  int64_t count = 1;
  for (size_t a = 0; a < kConvAxes; ++a) {
    const PoolSpan span = pool_window(g, a, at[a]);
    count *= span.end - span.begin;
  }
  return static_cast<double>(count);
}

template <class T>
void max_pool(const PoolGeometry& g, const T* x, T* y, uint8_t* index) {
  const int64_t rows = g.batch * g.out_points();
  std::fill_n(y, rows * g.channels, -std::numeric_limits<T>::infinity());
  if (index != nullptr) std::fill_n(index, rows * g.channels, kNoIndex);
  for_each_pair(g, [&](int64_t row, int64_t x_row, int64_t w) {
    const bool first = index == nullptr;
    for (int64_t c = 0; c < g.channels; ++c) {
      const T v = x[x_row * g.channels + c];
      T& best = y[row * g.channels + c];
      const bool fresh = !first && index[row * g.channels + c] == kNoIndex;
      if (!(v > best || (std::isnan(v) && !std::isnan(best)) || fresh)) continue;
      best = v;
      if (index != nullptr) index[row * g.channels + c] = static_cast<uint8_t>(w);
    }
  });
}

template <class T>
void max_pool_grad(const PoolGeometry& g, const T* dy, const uint8_t* index, T* dx) {
  std::fill_n(dx, g.batch * g.in_points() * g.channels, T{0});
  for_each_pair(g, [&](int64_t row, int64_t x_row, int64_t w) {
    for (int64_t c = 0; c < g.channels; ++c) {
      if (index[row * g.channels + c] == w) dx[x_row * g.channels + c] += dy[row * g.channels + c];
    }
  });
}

template <class T>
void max_pool_take(const PoolGeometry& g, const T* x, const uint8_t* index, T* y) {
  std::fill_n(y, g.batch * g.out_points() * g.channels, T{0});
  for_each_pair(g, [&](int64_t row, int64_t x_row, int64_t w) {
    for (int64_t c = 0; c < g.channels; ++c) {
      if (index[row * g.channels + c] == w) y[row * g.channels + c] = x[x_row * g.channels + c];
    }
  });
}

template <class T>
void average_pool(const PoolGeometry& g, const T* x, T* y) {
  std::fill_n(y, g.batch * g.out_points() * g.channels, T{0});
  for_each_pair(g, [&](int64_t row, int64_t x_row, int64_t) {
    for (int64_t c = 0; c < g.channels; ++c) y[row * g.channels + c] += x[x_row * g.channels + c];
  });
  for (int64_t row = 0; row < g.batch * g.out_points(); ++row) {
    const T count = static_cast<T>(std::max(1.0, count_inside(g, row % g.out_points())));
    for (int64_t c = 0; c < g.channels; ++c) y[row * g.channels + c] /= count;
  }
}

template <class T>
void average_pool_grad(const PoolGeometry& g, const T* dy, T* dx) {
  std::fill_n(dx, g.batch * g.in_points() * g.channels, T{0});
  for_each_pair(g, [&](int64_t row, int64_t x_row, int64_t) {
    const T count = static_cast<T>(count_inside(g, row % g.out_points()));
    for (int64_t c = 0; c < g.channels; ++c) dx[x_row * g.channels + c] += dy[row * g.channels + c] / count;
  });
}

enum class Task { max_pool, max_pool_grad, max_pool_take, average_pool, average_pool_grad };
struct State {
  PoolGeometry g;
  Task task;
  DType dtype;
  bool index;
};

template <class T>
void run_as(const State& s, void* const* args) {
  const T* in = static_cast<const T*>(args[0]);
  switch (s.task) {
    case Task::max_pool:
      return max_pool<T>(s.g, in, static_cast<T*>(args[1]), s.index ? static_cast<uint8_t*>(args[2]) : nullptr);
    case Task::max_pool_grad:
      return max_pool_grad<T>(s.g, in, static_cast<const uint8_t*>(args[1]), static_cast<T*>(args[2]));
    case Task::max_pool_take:
      return max_pool_take<T>(s.g, in, static_cast<const uint8_t*>(args[1]), static_cast<T*>(args[2]));
    case Task::average_pool: return average_pool<T>(s.g, in, static_cast<T*>(args[1]));
    case Task::average_pool_grad: return average_pool_grad<T>(s.g, in, static_cast<T*>(args[1]));
  }
}

void run(const State& s, void* const* args) {
  s.dtype == DType::f64 ? run_as<double>(s, args) : run_as<float>(s, args);
}

// kForward: the geometry is that of the input, else of the output.
template <Task kTask, bool kForward>
Kernel plain(const KernelQuery& q) {
  const Shape& x = kForward ? q.in[0].shape : q.out[0].shape;
  return make_kernel<State, run>("reference", {pool_geometry("pool", x, q.attrs), kTask, q.in[0].dtype, q.out.size() == 2});
}

}  // namespace

Kernel prepare_max_pool(const KernelQuery& q) { return prepare_widened(q, plain<Task::max_pool, true>); }
Kernel prepare_max_pool_grad(const KernelQuery& q) { return prepare_widened(q, plain<Task::max_pool_grad, false>); }
Kernel prepare_max_pool_take(const KernelQuery& q) { return prepare_widened(q, plain<Task::max_pool_take, true>); }
Kernel prepare_average_pool(const KernelQuery& q) { return prepare_widened(q, plain<Task::average_pool, true>); }
Kernel prepare_average_pool_grad(const KernelQuery& q) {
  return prepare_widened(q, plain<Task::average_pool_grad, false>);
}

}  // namespace reference
}  // namespace plimsoll

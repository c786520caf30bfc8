#include "device/cpu/softmax_kernels.h"

#include <cmath>
#include <limits>

#include "device/cpu/row_chunks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/softmax_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One row, axis contiguous: y = exp(x - max) and its sum; y may be null (only the sum is wanted).
template <class T>
HWY_INLINE T row_max(const T* HWY_RESTRICT x, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kLow = -std::numeric_limits<T>::infinity();
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Set(d, kLow), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
  }
  for (; i < n; i += lanes) a = hn::Max(a, vm::load_first(d, x + i, HWY_MIN(n - i, lanes), kLow));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

template <class T>
HWY_INLINE T row_sum_exp(const T* x, T max, size_t n) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, max);
  auto total = hn::Zero(d);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto&) HWY_ATTR {
    // Lanes past the end read -infinity: they add exp(-inf) = 0.
    const auto v = load(x, -std::numeric_limits<T>::infinity());
    total = hn::Add(total, vm::exp_negative(d, hn::Sub(v, m)));
  });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

template <class T>
void softmax_row(const T* x, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const auto m = hn::Set(d, row_max(x, n));
  auto total = hn::Zero(d);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto v = load(x, -std::numeric_limits<T>::infinity());
    const auto e = vm::exp_negative(d, hn::Sub(v, m));
    total = hn::Add(total, e);
    store(e, y);
  });
  const auto scale = hn::Div(hn::Set(d, static_cast<T>(1)), hn::SumOfLanes(d, total));
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(load(y, static_cast<T>(0)), scale), y);
  });
}

template <class T>
void log_softmax_row(const T* x, T* y, size_t n) {
  const hn::ScalableTag<T> d;
  const T max = row_max(x, n);
  const auto m = hn::Set(d, max);
  const auto log_sum = hn::Set(d, std::log(row_sum_exp(x, max, n)));
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Sub(hn::Sub(load(x, static_cast<T>(0)), m), log_sum), y);
  });
}

template <class T>
void backward_row(bool log, const T* y, const T* dy, T* dx, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  auto total = hn::Zero(d);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto&) HWY_ATTR {
    const auto g = load(dy, kZero);
    total = log ? hn::Add(total, g) : hn::MulAdd(load(y, kZero), g, total);
  });
  const auto sum = hn::SumOfLanes(d, total);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto g = load(dy, kZero), v = load(y, kZero);
    store(log ? hn::NegMulAdd(vm::exp(d, v), sum, g) : hn::Mul(v, hn::Sub(g, sum)), dx);
  });
}

// One vector of columns, the axis running down with `stride`: every lane is a row of its own.
template <class T>
HWY_INLINE void softmax_columns(bool log, const T* x, T* y, size_t n, size_t stride, size_t width) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  auto max = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (size_t i = 0; i < n; ++i) max = hn::Max(max, vm::load_first(d, x + i * stride, width, kZero));
  auto total = hn::Zero(d);
  for (size_t i = 0; i < n; ++i) {
    const auto e = vm::exp_negative(d, hn::Sub(vm::load_first(d, x + i * stride, width, kZero), max));
    total = hn::Add(total, e);
    if (!log) vm::store_first(e, d, y + i * stride, width);
  }
  if (log) {
    HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
    hn::Store(total, d, lanes);
    for (size_t k = 0; k < width; ++k) lanes[k] = std::log(lanes[k]);
    const auto log_sum = hn::Load(d, lanes);
    for (size_t i = 0; i < n; ++i) {
      const auto v = hn::Sub(vm::load_first(d, x + i * stride, width, kZero), max);
      vm::store_first(hn::Sub(v, log_sum), d, y + i * stride, width);
    }
    return;
  }
  const auto scale = hn::Div(hn::Set(d, static_cast<T>(1)), total);
  for (size_t i = 0; i < n; ++i) {
    const auto e = vm::load_first(d, y + i * stride, width, kZero);
    vm::store_first(hn::Mul(e, scale), d, y + i * stride, width);
  }
}

template <class T>
HWY_INLINE void backward_columns(bool log, const T* y, const T* dy, T* dx, size_t n, size_t stride,
                                 size_t width) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  auto total = hn::Zero(d);
  for (size_t i = 0; i < n; ++i) {
    const auto g = vm::load_first(d, dy + i * stride, width, kZero);
    total = log ? hn::Add(total, g) : hn::MulAdd(vm::load_first(d, y + i * stride, width, kZero), g, total);
  }
  for (size_t i = 0; i < n; ++i) {
    const auto g = vm::load_first(d, dy + i * stride, width, kZero);
    const auto v = vm::load_first(d, y + i * stride, width, kZero);
    const auto r = log ? hn::NegMulAdd(vm::exp(d, v), total, g) : hn::Mul(v, hn::Sub(g, total));
    vm::store_first(r, d, dx + i * stride, width);
  }
}

// Rows [begin, end) of the outer axis, all of the inner.
template <class T>
void forward_range(const AxisView& v, bool log, const T* x, T* y, int64_t begin, int64_t end) {
  const size_t n = static_cast<size_t>(v.n), inner = static_cast<size_t>(v.inner);
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  for (int64_t o = begin; o < end; ++o) {
    const size_t at = static_cast<size_t>(o) * n * inner;
    if (inner == 1) {
      log ? log_softmax_row(x + at, y + at, n) : softmax_row(x + at, y + at, n);
      continue;
    }
    for (size_t c = 0; c < inner; c += lanes) {
      softmax_columns(log, x + at + c, y + at + c, n, inner, HWY_MIN(lanes, inner - c));
    }
  }
}

template <class T>
void backward_range(const AxisView& v, bool log, const T* y, const T* dy, T* dx, int64_t begin, int64_t end) {
  const size_t n = static_cast<size_t>(v.n), inner = static_cast<size_t>(v.inner);
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  for (int64_t o = begin; o < end; ++o) {
    const size_t at = static_cast<size_t>(o) * n * inner;
    if (inner == 1) {
      backward_row(log, y + at, dy + at, dx + at, n);
      continue;
    }
    for (size_t c = 0; c < inner; c += lanes) {
      backward_columns(log, y + at + c, dy + at + c, dx + at + c, n, inner, HWY_MIN(lanes, inner - c));
    }
  }
}

template <class T>
void lse_row(const T* x, size_t n, T& max, T& log_sum) {
  max = row_max(x, n);
  log_sum = std::log(row_sum_exp(x, max, n));
}

template <class T>
T dense_loss_row(const T* x, const T* t, T max, T log_sum, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  const auto m = hn::Set(d, max), s = hn::Set(d, log_sum);
  auto total = hn::Zero(d);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto&) HWY_ATTR {
    const auto minus_log = hn::Add(hn::Sub(m, load(x, kZero)), s);
    total = hn::MulAdd(load(t, kZero), minus_log, total);
  });
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// dx = exp(x - lse) * scale.
template <class T>
void scaled_softmax_row(const T* x, T lse, T scale, T* dx, size_t n) {
  const hn::ScalableTag<T> d;
  const auto l = hn::Set(d, lse), s = hn::Set(d, scale);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(vm::exp_negative(d, hn::Sub(load(x, static_cast<T>(0)), l)), s), dx);
  });
}

template <class T>
void dense_backward_row(const T* x, const T* t, T lse, T scale, T* dx, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  auto total = hn::Zero(d);
  vm::for_vectors(
      d, n, [&](size_t, const auto& load, const auto&) HWY_ATTR { total = hn::Add(total, load(t, kZero)); });
  const auto sum = hn::SumOfLanes(d, total), l = hn::Set(d, lse), s = hn::Set(d, scale);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto p = vm::exp_negative(d, hn::Sub(load(x, kZero), l));
    store(hn::Mul(hn::MulSub(p, sum, load(t, kZero)), s), dx);
  });
}

// What the dispatch tables hold: one function per dtype.
#define PLIMSOLL_SOFTMAX_ENTRY(T, S)                                                                     \
  void forward_##S(const AxisView& v, bool log, const T* x, T* y, int64_t b, int64_t e) {                \
    forward_range<T>(v, log, x, y, b, e);                                                                \
  }                                                                                                      \
  void backward_##S(const AxisView& v, bool log, const T* y, const T* dy, T* dx, int64_t b, int64_t e) { \
    backward_range<T>(v, log, y, dy, dx, b, e);                                                          \
  }                                                                                                      \
  void lse_##S(const T* x, size_t n, T& max, T& log_sum) { lse_row<T>(x, n, max, log_sum); }             \
  T dense_loss_##S(const T* x, const T* t, T max, T log_sum, size_t n) {                                 \
    return dense_loss_row<T>(x, t, max, log_sum, n);                                                     \
  }                                                                                                      \
  void scaled_##S(const T* x, T lse, T scale, T* dx, size_t n) {                                         \
    scaled_softmax_row<T>(x, lse, scale, dx, n);                                                         \
  }                                                                                                      \
  void dense_backward_##S(const T* x, const T* t, T lse, T scale, T* dx, size_t n) {                     \
    dense_backward_row<T>(x, t, lse, scale, dx, n);                                                      \
  }
PLIMSOLL_SOFTMAX_ENTRY(float, f32)
PLIMSOLL_SOFTMAX_ENTRY(double, f64)
#undef PLIMSOLL_SOFTMAX_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "device/cpu/index_reader.h"

namespace plimsoll {
namespace {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);
HWY_EXPORT(lse_f32);
HWY_EXPORT(lse_f64);
HWY_EXPORT(dense_loss_f32);
HWY_EXPORT(dense_loss_f64);
HWY_EXPORT(scaled_f32);
HWY_EXPORT(scaled_f64);
HWY_EXPORT(dense_backward_f32);
HWY_EXPORT(dense_backward_f64);

// The functions of the chosen target, by element type.
template <class T>
struct Table;
template <>
struct Table<float> {
  static auto forward() { return HWY_DYNAMIC_DISPATCH(forward_f32); }
  static auto backward() { return HWY_DYNAMIC_DISPATCH(backward_f32); }
  static auto lse() { return HWY_DYNAMIC_DISPATCH(lse_f32); }
  static auto dense_loss() { return HWY_DYNAMIC_DISPATCH(dense_loss_f32); }
  static auto scaled() { return HWY_DYNAMIC_DISPATCH(scaled_f32); }
  static auto dense_backward() { return HWY_DYNAMIC_DISPATCH(dense_backward_f32); }
};
template <>
struct Table<double> {
  static auto forward() { return HWY_DYNAMIC_DISPATCH(forward_f64); }
  static auto backward() { return HWY_DYNAMIC_DISPATCH(backward_f64); }
  static auto lse() { return HWY_DYNAMIC_DISPATCH(lse_f64); }
  static auto dense_loss() { return HWY_DYNAMIC_DISPATCH(dense_loss_f64); }
  static auto scaled() { return HWY_DYNAMIC_DISPATCH(scaled_f64); }
  static auto dense_backward() { return HWY_DYNAMIC_DISPATCH(dense_backward_f64); }
};

// Calls f(T{}) with the element type of dtype.
template <class F>
void with_type(DType dtype, const F& f) {
  dtype == DType::f64 ? f(double{}) : f(float{});
}

}  // namespace

AxisView axis_view(const Shape& shape, int axis) {
  AxisView v;
  for (int i = 0; i < axis; ++i) v.outer *= shape[i];
  v.n = shape[axis];
  for (int i = axis + 1; i < shape.rank(); ++i) v.inner *= shape[i];
  return v;
}

void softmax_forward(DType dtype, const AxisView& view, bool log, const void* x, void* y, int threads) {
  if (view.n == 0 || view.inner == 0) return;
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::forward();
    parallel_rows(view.outer, view.n * view.inner, threads, [&](int64_t begin, int64_t end) {
      run(view, log, static_cast<const T*>(x), static_cast<T*>(y), begin, end);
    });
  });
}

void softmax_backward(DType dtype, const AxisView& view, bool log, const void* y, const void* dy, void* dx,
                      int threads) {
  if (view.n == 0 || view.inner == 0) return;
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::backward();
    parallel_rows(view.outer, view.n * view.inner, threads, [&](int64_t begin, int64_t end) {
      run(view, log, static_cast<const T*>(y), static_cast<const T*>(dy), static_cast<T*>(dx), begin, end);
    });
  });
}

void sparse_cross_entropy_forward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                  const void* labels, void* loss, void* lse, int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::lse();
    parallel_rows(view.rows, view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = static_cast<const T*>(x) + i * view.classes;
        T max, log_sum;
        run(row, static_cast<size_t>(view.classes), max, log_sum);
        const int64_t label = read_index(label_dtype, labels, i);
        const bool inside = label >= 0 && label < view.classes;
        static_cast<T*>(lse)[i] = max + log_sum;
        // Not lse - x: max and x are close where it matters, and their difference is exact.
        static_cast<T*>(loss)[i] =
            inside ? (max - row[label]) + log_sum : std::numeric_limits<T>::quiet_NaN();
      }
    });
  });
}

void sparse_cross_entropy_backward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                   const void* labels, const void* lse, const void* dloss, void* dx,
                                   int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::scaled();
    parallel_rows(view.rows, view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = static_cast<T*>(dx) + i * view.classes;
        const int64_t label = read_index(label_dtype, labels, i);
        if (label < 0 || label >= view.classes) {
          std::fill(row, row + view.classes, T{0});
          continue;
        }
        const T scale = static_cast<const T*>(dloss)[i];
        run(static_cast<const T*>(x) + i * view.classes, static_cast<const T*>(lse)[i], scale, row,
            static_cast<size_t>(view.classes));
        row[label] -= scale;
      }
    });
  });
}

void cross_entropy_forward(DType dtype, const RowsView& view, const void* x, const void* targets, void* loss,
                           void* lse, int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto sums = Table<T>::lse();
    const auto dot = Table<T>::dense_loss();
    parallel_rows(view.rows, 2 * view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t n = static_cast<size_t>(view.classes);
        const T* row = static_cast<const T*>(x) + i * view.classes;
        T max, log_sum;
        sums(row, n, max, log_sum);
        static_cast<T*>(lse)[i] = max + log_sum;
        static_cast<T*>(loss)[i] =
            dot(row, static_cast<const T*>(targets) + i * view.classes, max, log_sum, n);
      }
    });
  });
}

void cross_entropy_backward(DType dtype, const RowsView& view, const void* x, const void* targets,
                            const void* lse, const void* dloss, void* dx, int threads) {
  with_type(dtype, [&]<class T>(T) {
    const auto run = Table<T>::dense_backward();
    parallel_rows(view.rows, 2 * view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * view.classes;
        run(static_cast<const T*>(x) + at, static_cast<const T*>(targets) + at, static_cast<const T*>(lse)[i],
            static_cast<const T*>(dloss)[i], static_cast<T*>(dx) + at, static_cast<size_t>(view.classes));
      }
    });
  });
}

}  // namespace plimsoll
#endif  // HWY_ONCE

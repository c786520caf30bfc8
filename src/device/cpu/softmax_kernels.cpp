#include "device/cpu/softmax_kernels.h"

#include <cmath>
#include <limits>

#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"

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
template <class S, class T = typename Loaded<S>::type>
HWY_INLINE T row_max(const S* HWY_RESTRICT x, size_t n) {
  const hn::ScalableTag<T> d;
  constexpr T kLow = -std::numeric_limits<T>::infinity();
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Set(d, kLow), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, vm::load(d, x + i));
    b = hn::Max(b, vm::load(d, x + i + lanes));
  }
  for (; i < n; i += lanes) a = hn::Max(a, vm::load_first(d, x + i, HWY_MIN(n - i, lanes), kLow));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

template <class S, class T>
HWY_INLINE T row_sum_exp(const S* x, T max, size_t n) {
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

// Halves have no room for what comes between, which is computed twice instead.
template <class S>
void softmax_half_row(const S* x, S* y, size_t n) {
  const hn::ScalableTag<float> d;
  const float max = row_max(x, n);
  const auto m = hn::Set(d, max), scale = hn::Set(d, 1 / row_sum_exp(x, max, n));
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(vm::exp_negative(d, hn::Sub(load(x, 0), m)), scale), y);
  });
}

template <class T>
void softmax_row(const T* x, T* y, size_t n) {
  if constexpr (kIsHalf<T>)
    return softmax_half_row(x, y, n);
  else {
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
}

template <class S, class T = typename Loaded<S>::type>
void log_softmax_row(const S* x, S* y, size_t n) {
  const hn::ScalableTag<T> d;
  const T max = row_max(x, n);
  const auto m = hn::Set(d, max);
  const auto log_sum = hn::Set(d, std::log(row_sum_exp(x, max, n)));
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Sub(hn::Sub(load(x, static_cast<T>(0)), m), log_sum), y);
  });
}

template <class S, class T = typename Loaded<S>::type>
void backward_row(bool log, const S* y, const S* dy, S* dx, size_t n) {
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
template <class S, class T = typename Loaded<S>::type>
HWY_INLINE void softmax_columns(bool log, const S* x, S* y, size_t n, size_t stride, size_t width) {
  const hn::ScalableTag<T> d;
  constexpr T kZero = 0;
  auto max = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (size_t i = 0; i < n; ++i) max = hn::Max(max, vm::load_first(d, x + i * stride, width, kZero));
  auto total = hn::Zero(d);
  for (size_t i = 0; i < n; ++i) {
    const auto e = vm::exp_negative(d, hn::Sub(vm::load_first(d, x + i * stride, width, kZero), max));
    total = hn::Add(total, e);
    if (!log && !kIsHalf<S>) vm::store_first(e, d, y + i * stride, width);
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
    auto e = vm::load_first(d, (kIsHalf<S> ? x : y) + i * stride, width, kZero);
    if (kIsHalf<S>) e = vm::exp_negative(d, hn::Sub(e, max));
    vm::store_first(hn::Mul(e, scale), d, y + i * stride, width);
  }
}

template <class S, class T = typename Loaded<S>::type>
HWY_INLINE void backward_columns(bool log, const S* y, const S* dy, S* dx, size_t n, size_t stride,
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
template <class S>
void forward_range(const AxisView& v, bool log, const S* x, S* y, int64_t begin, int64_t end) {
  const size_t n = static_cast<size_t>(v.n), inner = static_cast<size_t>(v.inner);
  const size_t lanes = hn::Lanes(hn::ScalableTag<typename Loaded<S>::type>());
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

template <class S>
void backward_range(const AxisView& v, bool log, const S* y, const S* dy, S* dx, int64_t begin, int64_t end) {
  const size_t n = static_cast<size_t>(v.n), inner = static_cast<size_t>(v.inner);
  const size_t lanes = hn::Lanes(hn::ScalableTag<typename Loaded<S>::type>());
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

template <class S, class T>
void lse_row(const S* x, size_t n, T& max, T& log_sum) {
  max = row_max(x, n);
  log_sum = std::log(row_sum_exp(x, max, n));
}

template <class S, class T>
T dense_loss_row(const S* x, const S* t, T max, T log_sum, size_t n) {
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
template <class S, class T>
void scaled_softmax_row(const S* x, T lse, T scale, S* dx, size_t n) {
  const hn::ScalableTag<T> d;
  const auto l = hn::Set(d, lse), s = hn::Set(d, scale);
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(vm::exp_negative(d, hn::Sub(load(x, static_cast<T>(0)), l)), s), dx);
  });
}

template <class S, class T>
void dense_backward_row(const S* x, const S* t, T lse, T scale, S* dx, size_t n) {
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
#define PLIMSOLL_SOFTMAX_ENTRY(S, T, NAME)                                                                  \
  void forward_##NAME(const AxisView& v, bool log, const S* x, S* y, int64_t b, int64_t e) {                \
    forward_range<S>(v, log, x, y, b, e);                                                                   \
  }                                                                                                         \
  void backward_##NAME(const AxisView& v, bool log, const S* y, const S* dy, S* dx, int64_t b, int64_t e) { \
    backward_range<S>(v, log, y, dy, dx, b, e);                                                             \
  }                                                                                                         \
  void lse_##NAME(const S* x, size_t n, T& max, T& log_sum) { lse_row<S>(x, n, max, log_sum); }             \
  T dense_loss_##NAME(const S* x, const S* t, T max, T log_sum, size_t n) {                                 \
    return dense_loss_row<S>(x, t, max, log_sum, n);                                                        \
  }                                                                                                         \
  void scaled_##NAME(const S* x, T lse, T scale, S* dx, size_t n) {                                         \
    scaled_softmax_row<S>(x, lse, scale, dx, n);                                                            \
  }                                                                                                         \
  void dense_backward_##NAME(const S* x, const S* t, T lse, T scale, S* dx, size_t n) {                     \
    dense_backward_row<S>(x, t, lse, scale, dx, n);                                                         \
  }
PLIMSOLL_SOFTMAX_ENTRY(float, float, f32)
PLIMSOLL_SOFTMAX_ENTRY(double, double, f64)
PLIMSOLL_SOFTMAX_ENTRY(HalfBits, float, f16)
PLIMSOLL_SOFTMAX_ENTRY(BrainBits, float, bf16)
#undef PLIMSOLL_SOFTMAX_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "device/cpu/index_reader.h"

namespace plimsoll {
namespace {

// The functions of the chosen target, by element type.
template <class S>
struct Table;
#define PLIMSOLL_SOFTMAX_TABLE(S, NAME)                                                  \
  HWY_EXPORT(forward_##NAME);                                                            \
  HWY_EXPORT(backward_##NAME);                                                           \
  HWY_EXPORT(lse_##NAME);                                                                \
  HWY_EXPORT(dense_loss_##NAME);                                                         \
  HWY_EXPORT(scaled_##NAME);                                                             \
  HWY_EXPORT(dense_backward_##NAME);                                                     \
  template <>                                                                            \
  struct Table<S> {                                                                      \
    static auto forward() { return HWY_DYNAMIC_DISPATCH(forward_##NAME); }               \
    static auto backward() { return HWY_DYNAMIC_DISPATCH(backward_##NAME); }             \
    static auto lse() { return HWY_DYNAMIC_DISPATCH(lse_##NAME); }                       \
    static auto dense_loss() { return HWY_DYNAMIC_DISPATCH(dense_loss_##NAME); }         \
    static auto scaled() { return HWY_DYNAMIC_DISPATCH(scaled_##NAME); }                 \
    static auto dense_backward() { return HWY_DYNAMIC_DISPATCH(dense_backward_##NAME); } \
  };
PLIMSOLL_SOFTMAX_TABLE(float, f32)
PLIMSOLL_SOFTMAX_TABLE(double, f64)
PLIMSOLL_SOFTMAX_TABLE(HalfBits, f16)
PLIMSOLL_SOFTMAX_TABLE(BrainBits, bf16)
#undef PLIMSOLL_SOFTMAX_TABLE

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
  with_float(dtype, "softmax", [&]<class S>(S) {
    const auto run = Table<S>::forward();
    parallel_rows(view.outer, view.n * view.inner, threads, [&](int64_t begin, int64_t end) {
      run(view, log, static_cast<const S*>(x), static_cast<S*>(y), begin, end);
    });
  });
}

void softmax_backward(DType dtype, const AxisView& view, bool log, const void* y, const void* dy, void* dx,
                      int threads) {
  if (view.n == 0 || view.inner == 0) return;
  with_float(dtype, "softmax", [&]<class S>(S) {
    const auto run = Table<S>::backward();
    parallel_rows(view.outer, view.n * view.inner, threads, [&](int64_t begin, int64_t end) {
      run(view, log, static_cast<const S*>(y), static_cast<const S*>(dy), static_cast<S*>(dx), begin, end);
    });
  });
}

void sparse_cross_entropy_forward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                  const void* labels, void* loss, void* lse, int threads) {
  with_float(dtype, "softmax", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    const auto run = Table<S>::lse();
    parallel_rows(view.rows, view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const S* row = static_cast<const S*>(x) + i * view.classes;
        T max, log_sum;
        run(row, static_cast<size_t>(view.classes), max, log_sum);
        const int64_t label = read_index(label_dtype, labels, i);
        const bool inside = label >= 0 && label < view.classes;
        static_cast<T*>(lse)[i] = max + log_sum;
        // Not lse - x: max and x are close where it matters, and their difference is exact.
        const T value = inside ? (max - load(row[label])) + log_sum : std::numeric_limits<T>::quiet_NaN();
        store(static_cast<S*>(loss)[i], value);
      }
    });
  });
}

void sparse_cross_entropy_backward(DType dtype, const RowsView& view, const void* x, DType label_dtype,
                                   const void* labels, const void* lse, const void* dloss, void* dx,
                                   int threads) {
  with_float(dtype, "softmax", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    const auto run = Table<S>::scaled();
    parallel_rows(view.rows, view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        S* row = static_cast<S*>(dx) + i * view.classes;
        const int64_t label = read_index(label_dtype, labels, i);
        if (label < 0 || label >= view.classes) {
          std::fill(row, row + view.classes, S{});
          continue;
        }
        const T scale = load(static_cast<const S*>(dloss)[i]), total = static_cast<const T*>(lse)[i];
        const S* const logits = static_cast<const S*>(x) + i * view.classes;
        [[maybe_unused]] const T at_label = load(logits[label]);  // dx may be the same bytes
        run(logits, total, scale, row, static_cast<size_t>(view.classes));
        if constexpr (kIsHalf<S>)  // no rounding before the difference
          store(row[label], (std::exp(at_label - total) - 1) * scale);
        else
          row[label] -= scale;
      }
    });
  });
}

void cross_entropy_forward(DType dtype, const RowsView& view, const void* x, const void* targets, void* loss,
                           void* lse, int threads) {
  with_float(dtype, "softmax", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    const auto sums = Table<S>::lse();
    const auto dot = Table<S>::dense_loss();
    parallel_rows(view.rows, 2 * view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t n = static_cast<size_t>(view.classes);
        const S* row = static_cast<const S*>(x) + i * view.classes;
        T max, log_sum;
        sums(row, n, max, log_sum);
        static_cast<T*>(lse)[i] = max + log_sum;
        store(static_cast<S*>(loss)[i],
              dot(row, static_cast<const S*>(targets) + i * view.classes, max, log_sum, n));
      }
    });
  });
}

void cross_entropy_backward(DType dtype, const RowsView& view, const void* x, const void* targets,
                            const void* lse, const void* dloss, void* dx, int threads) {
  with_float(dtype, "softmax", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    const auto run = Table<S>::dense_backward();
    parallel_rows(view.rows, 2 * view.classes, threads, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * view.classes;
        run(static_cast<const S*>(x) + at, static_cast<const S*>(targets) + at, static_cast<const T*>(lse)[i],
            load(static_cast<const S*>(dloss)[i]), static_cast<S*>(dx) + at,
            static_cast<size_t>(view.classes));
      }
    });
  });
}

}  // namespace plimsoll
#endif  // HWY_ONCE

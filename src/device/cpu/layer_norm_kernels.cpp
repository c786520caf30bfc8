#include "device/cpu/layer_norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/aligned.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "plimsoll/shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/layer_norm_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

#ifndef PLIMSOLL_DEVICE_CPU_LAYER_NORM_ONCE_
#define PLIMSOLL_DEVICE_CPU_LAYER_NORM_ONCE_
namespace plimsoll {
namespace {

// The rows of one group in the backward pass, and where their part of the column sums goes.
template <class S, class T = typename Loaded<S>::type>
struct GradRows {
  const S *x, *dy;
  const T *gamma, *mean, *rstd;
  S* dx;
  T *dgamma, *dbeta;
  size_t rows, n;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class S, class T = typename Loaded<S>::type>
HWY_INLINE T row_sum(const S* x, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Add(a, vm::load(d, x + i));
    b = hn::Add(b, vm::load(d, x + i + lanes));
  }
  for (; i < n; i += lanes) a = hn::Add(a, vm::load_first(d, x + i, HWY_MIN(n - i, lanes), T{0}));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

template <class S, class T>
HWY_INLINE T row_square_distance(const S* x, T mean, size_t n) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto m = hn::Set(d, mean);
  auto a = hn::Zero(d), b = a;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto u = hn::Sub(vm::load(d, x + i), m), v = hn::Sub(vm::load(d, x + i + lanes), m);
    a = hn::MulAdd(u, u, a);
    b = hn::MulAdd(v, v, b);
  }
  for (; i < n; i += lanes) {
    const auto u = hn::Sub(vm::load_first(d, x + i, HWY_MIN(n - i, lanes), mean), m);
    a = hn::MulAdd(u, u, a);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
}

// Two passes for the statistics: the one-pass formula loses all digits where the mean is large.
template <class S, class T>
void forward_rows(const S* x, const T* gamma, const T* beta, T epsilon, S* y, T* mean, T* rstd, size_t rows,
                  size_t n) {
  const hn::ScalableTag<T> d;
  for (size_t r = 0; r < rows; ++r, x += n, y += n) {
    mean[r] = row_sum(x, n) / static_cast<T>(n);
    rstd[r] = 1 / std::sqrt(row_square_distance(x, mean[r], n) / static_cast<T>(n) + epsilon);
    const auto m = hn::Set(d, mean[r]), s = hn::Set(d, rstd[r]);
    vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      const auto normal = hn::Mul(hn::Sub(load(x, T{0}), m), s);
      store(hn::MulAdd(normal, load(gamma, T{0}), load(beta, T{0})), y);
    });
  }
}

// dx = rstd (g - mean(g) - h mean(g h)) with g = dy gamma and h = (x - mean) rstd.
template <class S, class T>
void backward_rows(const GradRows<S, T>& a) {
  const hn::ScalableTag<T> d;
  const S *x = a.x, *dy = a.dy;
  S* dx = a.dx;
  const T scale = 1 / static_cast<T>(a.n);
  for (size_t r = 0; r < a.rows; ++r, x += a.n, dy += a.n, dx += a.n) {
    const auto m = hn::Set(d, a.mean[r]), s = hn::Set(d, a.rstd[r]);
    auto sum_g = hn::Zero(d), sum_gh = sum_g;
    vm::for_vectors(d, a.n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      const auto up = load(dy, T{0});
      const auto h = hn::Mul(hn::Sub(load(x, T{0}), m), s);
      const auto g = hn::Mul(up, load(a.gamma, T{0}));
      sum_g = hn::Add(sum_g, g);
      sum_gh = hn::MulAdd(g, h, sum_gh);
      store(hn::MulAdd(up, h, load(a.dgamma, T{0})), a.dgamma);
      store(hn::Add(up, load(a.dbeta, T{0})), a.dbeta);
    });
    const auto mean_g = hn::Mul(hn::SumOfLanes(d, sum_g), hn::Set(d, scale));
    const auto mean_gh = hn::Mul(hn::SumOfLanes(d, sum_gh), hn::Set(d, scale));
    vm::for_vectors(d, a.n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      const auto h = hn::Mul(hn::Sub(load(x, T{0}), m), s);
      const auto g = hn::MulSub(load(dy, T{0}), load(a.gamma, T{0}), mean_g);
      store(hn::Mul(s, hn::NegMulAdd(h, mean_gh, g)), dx);
    });
  }
}

#define PLIMSOLL_LAYER_NORM_ENTRY(S, T, NAME)                                                       \
  void forward_##NAME(const S* x, const T* gamma, const T* beta, T epsilon, S* y, T* mean, T* rstd, \
                      size_t rows, size_t n) {                                                      \
    forward_rows<S, T>(x, gamma, beta, epsilon, y, mean, rstd, rows, n);                            \
  }                                                                                                 \
  void backward_##NAME(const GradRows<S>& a) { backward_rows<S>(a); }
PLIMSOLL_LAYER_NORM_ENTRY(float, float, f32)
PLIMSOLL_LAYER_NORM_ENTRY(double, double, f64)
PLIMSOLL_LAYER_NORM_ENTRY(HalfBits, float, f16)
PLIMSOLL_LAYER_NORM_ENTRY(BrainBits, float, bf16)
#undef PLIMSOLL_LAYER_NORM_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

template <class S>
struct Table;
#define PLIMSOLL_LAYER_NORM_TABLE(S, NAME)                                   \
  HWY_EXPORT(forward_##NAME);                                                \
  HWY_EXPORT(backward_##NAME);                                               \
  template <>                                                                \
  struct Table<S> {                                                          \
    static auto forward() { return HWY_DYNAMIC_DISPATCH(forward_##NAME); }   \
    static auto backward() { return HWY_DYNAMIC_DISPATCH(backward_##NAME); } \
  };
PLIMSOLL_LAYER_NORM_TABLE(float, f32)
PLIMSOLL_LAYER_NORM_TABLE(double, f64)
PLIMSOLL_LAYER_NORM_TABLE(HalfBits, f16)
PLIMSOLL_LAYER_NORM_TABLE(BrainBits, bf16)
#undef PLIMSOLL_LAYER_NORM_TABLE

// At most 64 groups keep the partial sums small; 16 rows each make them worth having.
int64_t group_rows(int64_t rows) { return std::max<int64_t>(16, divide_up(rows, 64)); }
int64_t group_count(int64_t rows) { return (rows + group_rows(rows) - 1) / group_rows(rows); }

template <class S, class T>
void backward(int64_t rows, int64_t n, const LayerNormGrad& a, T* partial, int threads) {
  const auto run = Table<S>::backward();
  const int64_t each = group_rows(rows), groups = group_count(rows);
  const size_t row_bytes = static_cast<size_t>(n) * sizeof(T);
  const auto data = [](const void* p, int64_t i) { return static_cast<const S*>(p) + i; };
  const auto row = [](const void* p, int64_t i) { return static_cast<const T*>(p) + i; };
  auto group = [&](int64_t g, int) noexcept {
    T* sums = partial + g * 2 * n;
    std::memset(sums, 0, 2 * row_bytes);
    const int64_t b = g * each, e = std::min(rows, b + each);
    run({data(a.x, b * n), data(a.dy, b * n), row(a.gamma, 0), row(a.mean, b), row(a.rstd, b),
         static_cast<S*>(a.dx) + b * n, sums, sums + n, static_cast<size_t>(e - b), static_cast<size_t>(n)});
  };
  parallel_for(groups, rows * n < 2 * kChunkElements ? 1 : threads, group);
  T *dgamma = static_cast<T*>(a.dgamma), *dbeta = static_cast<T*>(a.dbeta);
  parallel_rows(n, 2 * groups, threads, [&](int64_t begin, int64_t end) {
    std::fill(dgamma + begin, dgamma + end, T{0});
    std::fill(dbeta + begin, dbeta + end, T{0});
    for (int64_t g = 0; g < groups; ++g) {
      const T* sums = partial + g * 2 * n;
      for (int64_t i = begin; i < end; ++i) dgamma[i] += sums[i];
      for (int64_t i = begin; i < end; ++i) dbeta[i] += sums[n + i];
    }
  });
}

}  // namespace

void layer_norm_forward(DType dtype, int64_t rows, int64_t n, double epsilon, const void* x,
                        const void* gamma, const void* beta, void* y, void* mean, void* rstd, int threads) {
  with_float(dtype, "layer_norm", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    const auto run = Table<S>::forward();
    parallel_rows(rows, n, threads, [&](int64_t b, int64_t e) {
      run(static_cast<const S*>(x) + b * n, static_cast<const T*>(gamma), static_cast<const T*>(beta),
          static_cast<T>(epsilon), static_cast<S*>(y) + b * n, static_cast<T*>(mean) + b,
          static_cast<T*>(rstd) + b, static_cast<size_t>(e - b), static_cast<size_t>(n));
    });
  });
}

int64_t layer_norm_scratch(DType dtype, int64_t rows, int64_t n) {
  const int64_t size = dtype == DType::f64 ? 8 : 4;
  return checked_mul(checked_mul(2 * size, group_count(rows), "layer_norm"), n, "layer_norm");
}

void layer_norm_backward(DType dtype, int64_t rows, int64_t n, const LayerNormGrad& a, void* scratch,
                         int threads) {
  with_float(dtype, "layer_norm", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    backward<S, T>(rows, n, a, static_cast<T*>(scratch), threads);
  });
}

}  // namespace plimsoll
#endif  // HWY_ONCE

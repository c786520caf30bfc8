#include "device/cpu/batch_norm_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "device/cpu/half_rows.h"
#include "device/cpu/row_chunks.h"
#include "device/cpu/typed.h"
#include "device/cpu/widened.h"
#include "plimsoll/error.h"
#include "plimsoll/shape.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/batch_norm_kernels.cpp"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"

#ifndef PLIMSOLL_DEVICE_CPU_BATCH_NORM_ONCE_
#define PLIMSOLL_DEVICE_CPU_BATCH_NORM_ONCE_
namespace plimsoll {
namespace {

constexpr int64_t kChunkSize = 32768;  // elements whose sums are kept apart
constexpr int64_t kGroup = 8;          // rows added up before they meet the chunk's sums
constexpr int64_t kMergeWork = 4;      // elements in the time that one chunk's sums of a channel take

struct BatchNorm {
  int64_t rows = 0, channels = 0;
  double epsilon = 0;
  bool relu = false, residual = false, input_relu = false;
  bool beta = false;                // an input of the gradient that is not needed here
  DType channel_type = DType::f32;  // of gamma, beta and the statistics: the type sums have, or a half
  int threads = 1;

  int64_t chunk_rows() const { return std::max<int64_t>(kGroup, kChunkSize / channels / kGroup * kGroup); }
  int64_t chunks() const { return rows == 0 ? 0 : (rows - 1) / chunk_rows() + 1; }
};

// Data of type S are worked on as T.
template <class S>
using Wide = typename Loaded<S>::type;

// Pointers into scratch: two rows of sums per chunk, then rows of doubles and of coefficients, one per
// channel, and five rows in place of arguments that are halves.
constexpr int64_t kNarrowRows = 5;
template <class T>
struct Work {
  T* sums;
  double *mean, *square;
  T *a, *b, *c;
  T* narrow;
};

template <class T>
int64_t work_bytes(const BatchNorm& n) {
  const int64_t rows = 2 * n.chunks() + 3 + (is_half(n.channel_type) ? kNarrowRows : 0);
  return n.channels * (rows * static_cast<int64_t>(sizeof(T)) + 2 * static_cast<int64_t>(sizeof(double)));
}

template <class T>
Work<T> work_at(const BatchNorm& n, void* scratch) {
  Work<T> w{};
  w.mean = static_cast<double*>(scratch);
  w.square = w.mean + n.channels;
  w.a = reinterpret_cast<T*>(w.square + n.channels);
  w.b = w.a + n.channels;
  w.c = w.b + n.channels;
  w.sums = w.c + n.channels;
  w.narrow = w.sums + 2 * n.chunks() * n.channels;
  return w;
}

template <class S, class T = Wide<S>>
struct ForwardArgs {
  const S *x, *residual;
  const T *gamma, *beta;
  S* y;
  T *mean, *variance;
};
template <class S, class T = Wide<S>>
struct BackwardArgs {
  const S *dy, *x, *y;
  const T *gamma, *mean, *variance;
  S *dx, *dresidual;
  T *dgamma, *dbeta;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Adds the sums of (x - first row of x) and of their squares over `rows` rows to sum and square.
template <class S, class T>
void chunk_sums(const S* x, int64_t rows, size_t channels, T* sum, T* square) {
  const hn::ScalableTag<T> d;
  std::fill_n(sum, channels, T{0});
  std::fill_n(square, channels, T{0});
  for (int64_t r = 0; r < rows; r += kGroup) {
    const S* from = x + r * static_cast<int64_t>(channels);
    const auto group = static_cast<size_t>(std::min(kGroup, rows - r));
    vm::for_vectors(d, channels, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      const auto shift = load(x, T{0});
      auto s = hn::Zero(d), q = s;
      for (size_t k = 0; k < group; ++k) {
        const auto v = hn::Sub(load(from + k * channels, T{0}), shift);
        s = hn::Add(s, v);
        q = hn::MulAdd(v, v, q);
      }
      store(hn::Add(load(sum, T{0}), s), sum);
      store(hn::Add(load(square, T{0}), q), square);
    });
  }
}

// Chan's rule for the union of two samples, chunk after chunk, for channels [begin, end).
template <class S, class T>
void merge_statistics(const BatchNorm& n, const S* x, const Work<T>& w, int64_t begin, int64_t end) {
  std::fill(w.mean + begin, w.mean + end, 0.0);
  std::fill(w.square + begin, w.square + end, 0.0);
  for (int64_t chunk = 0; chunk < n.chunks(); ++chunk) {
    const int64_t before = chunk * n.chunk_rows();
    const auto count = static_cast<double>(std::min(n.chunk_rows(), n.rows - before));
    const double all = static_cast<double>(before) + count;
    const double share = count / all, weight = static_cast<double>(before) * share;
    const S* first = x + before * n.channels;
    const T* sum = w.sums + 2 * chunk * n.channels;
    const T* square = sum + n.channels;
    for (int64_t c = begin; c < end; ++c) {
      const double s = sum[c];
      const double delta = static_cast<double>(plimsoll::load(first[c])) + s / count - w.mean[c];
      w.mean[c] += delta * share;
      w.square[c] += static_cast<double>(square[c]) - s * s / count + delta * delta * weight;
    }
  }
}

template <class S, class T>
void normalize_rows(const BatchNorm& n, const ForwardArgs<S>& a, const Work<T>& w, int64_t begin,
                    int64_t end) {
  const hn::ScalableTag<T> d;
  const auto zero = hn::Zero(d);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t at = r * n.channels;
    vm::for_vectors(d, static_cast<size_t>(n.channels),
                    [&](size_t, const auto& load, const auto& store) HWY_ATTR {
                      auto v = hn::Sub(load(a.x + at, T{0}), load(a.mean, T{0}));
                      v = hn::MulAdd(v, load(w.a, T{0}), load(a.beta, T{0}));
                      if (n.residual) v = hn::Add(v, load(a.residual + at, T{0}));
                      if (n.relu) v = hn::IfThenElse(hn::Lt(v, zero), zero, v);  // a NaN stays
                      store(v, a.y + at);
                    });
  }
}

template <class S, class T>
void forward(const BatchNorm& n, const ForwardArgs<S>& a, const Work<T>& w) {
  const auto channels = static_cast<size_t>(n.channels);
  parallel_for(n.chunks(), n.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = chunk * n.chunk_rows();
    T* const sum = w.sums + 2 * chunk * n.channels;
    chunk_sums(a.x + begin * n.channels, std::min(n.chunk_rows(), n.rows - begin), channels, sum,
               sum + n.channels);
  });
  const double rows = static_cast<double>(std::max<int64_t>(n.rows, 1));
  parallel_rows(n.channels, kMergeWork * n.chunks(), n.threads, [&](int64_t begin, int64_t end) {
    merge_statistics(n, a.x, w, begin, end);
    for (int64_t c = begin; c < end; ++c) {
      const double variance = std::max(w.square[c], 0.0) / rows;
      a.mean[c] = static_cast<T>(w.mean[c]);
      a.variance[c] = static_cast<T>(w.square[c] != w.square[c] ? w.square[c] : variance);
      w.a[c] = static_cast<T>(static_cast<double>(a.gamma[c]) /
                              std::sqrt(static_cast<double>(a.variance[c]) + n.epsilon));
    }
  });
  parallel_rows(n.rows, n.channels, n.threads,
                [&](int64_t begin, int64_t end) { normalize_rows(n, a, w, begin, end); });
}

// dz, the gradient below the activation, of the vector at hand.
template <class S, class D, class Load, class T = Wide<S>>
HWY_INLINE hn::Vec<D> below_activation(const BatchNorm& n, const BackwardArgs<S>& a, D d, int64_t at,
                                       const Load& load) {
  const auto dy = load(a.dy + at, T{0});
  if (!n.relu) return dy;
  return hn::IfThenElseZero(hn::Gt(load(a.y + at, T{0}), hn::Zero(d)), dy);
}

// Sums of dz and of dz * (x - mean) over rows [begin, end).
template <class S, class T>
void chunk_gradient_sums(const BatchNorm& n, const BackwardArgs<S>& a, int64_t begin, int64_t end, T* sum,
                         T* product) {
  const hn::ScalableTag<T> d;
  const auto channels = static_cast<size_t>(n.channels);
  std::fill_n(sum, channels, T{0});
  std::fill_n(product, channels, T{0});
  for (int64_t r = begin; r < end; r += kGroup) {
    const int64_t group = std::min(kGroup, end - r);
    vm::for_vectors(d, channels, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
      const auto mean = load(a.mean, T{0});
      auto s = hn::Zero(d), p = s;
      for (int64_t k = 0; k < group; ++k) {
        const int64_t at = (r + k) * n.channels;
        const auto dz = below_activation(n, a, d, at, load);
        s = hn::Add(s, dz);
        p = hn::MulAdd(dz, hn::Sub(load(a.x + at, T{0}), mean), p);
      }
      store(hn::Add(load(sum, T{0}), s), sum);
      store(hn::Add(load(product, T{0}), p), product);
    });
  }
}

// dx = a * dz + b * (x - mean) + c, or 0 below a relu that let nothing through
template <class S, class T>
void gradient_rows(const BatchNorm& n, const BackwardArgs<S>& a, const Work<T>& w, int64_t begin,
                   int64_t end) {
  const hn::ScalableTag<T> d;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t at = r * n.channels;
    vm::for_vectors(
        d, static_cast<size_t>(n.channels), [&](size_t, const auto& load, const auto& store) HWY_ATTR {
          const auto dz = below_activation(n, a, d, at, load);
          const auto x = load(a.x + at, T{0});
          if (a.dresidual != nullptr) store(dz, a.dresidual + at);
          const auto rest = hn::MulAdd(load(w.b, T{0}), hn::Sub(x, load(a.mean, T{0})), load(w.c, T{0}));
          auto dx = hn::MulAdd(load(w.a, T{0}), dz, rest);
          if (n.input_relu) dx = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), dx);
          store(dx, a.dx + at);
        });
  }
}

// The chunks' sums of channels [begin, end) put together, and what follows from them for each channel.
template <class S, class T>
void merge_gradients(const BatchNorm& n, const BackwardArgs<S>& a, const Work<T>& w, int64_t begin,
                     int64_t end) {
  std::fill(w.mean + begin, w.mean + end, 0.0);      // here: the sum of dz,
  std::fill(w.square + begin, w.square + end, 0.0);  // and of dz * (x - mean)
  for (int64_t chunk = 0; chunk < n.chunks(); ++chunk) {
    const T* sum = w.sums + 2 * chunk * n.channels;
    for (int64_t c = begin; c < end; ++c) w.mean[c] += static_cast<double>(sum[c]);
    for (int64_t c = begin; c < end; ++c) w.square[c] += static_cast<double>(sum[n.channels + c]);
  }
  const double rows = static_cast<double>(std::max<int64_t>(n.rows, 1));
  for (int64_t c = begin; c < end; ++c) {
    const double rstd = 1 / std::sqrt(static_cast<double>(a.variance[c]) + n.epsilon);
    const double scale = static_cast<double>(a.gamma[c]) * rstd;
    a.dbeta[c] = static_cast<T>(w.mean[c]);
    a.dgamma[c] = static_cast<T>(w.square[c] * rstd);
    w.a[c] = static_cast<T>(scale);
    w.b[c] = static_cast<T>(-scale * rstd * rstd * w.square[c] / rows);
    w.c[c] = static_cast<T>(-scale * w.mean[c] / rows);
  }
}

template <class S, class T>
void backward(const BatchNorm& n, const BackwardArgs<S>& a, const Work<T>& w) {
  parallel_for(n.chunks(), n.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = chunk * n.chunk_rows();
    T* const sum = w.sums + 2 * chunk * n.channels;
    chunk_gradient_sums(n, a, begin, std::min(n.rows, begin + n.chunk_rows()), sum, sum + n.channels);
  });
  parallel_rows(n.channels, kMergeWork * n.chunks(), n.threads,
                [&](int64_t begin, int64_t end) { merge_gradients(n, a, w, begin, end); });
  parallel_rows(n.rows, n.channels, n.threads,
                [&](int64_t begin, int64_t end) { gradient_rows(n, a, w, begin, end); });
}

#define PLIMSOLL_BATCH_NORM_ENTRY(S, NAME)                                                     \
  void forward_##NAME(const BatchNorm& n, const ForwardArgs<S>& a, const Work<Wide<S>>& w) {   \
    forward(n, a, w);                                                                          \
  }                                                                                            \
  void backward_##NAME(const BatchNorm& n, const BackwardArgs<S>& a, const Work<Wide<S>>& w) { \
    backward(n, a, w);                                                                         \
  }
PLIMSOLL_BATCH_NORM_ENTRY(float, f32)
PLIMSOLL_BATCH_NORM_ENTRY(double, f64)
PLIMSOLL_BATCH_NORM_ENTRY(HalfBits, f16)
PLIMSOLL_BATCH_NORM_ENTRY(BrainBits, bf16)
#undef PLIMSOLL_BATCH_NORM_ENTRY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

#define PLIMSOLL_BATCH_NORM_DISPATCH(S, NAME)                                           \
  HWY_EXPORT(forward_##NAME);                                                           \
  HWY_EXPORT(backward_##NAME);                                                          \
  void dispatch(const BatchNorm& n, const ForwardArgs<S>& a, const Work<Wide<S>>& w) {  \
    HWY_DYNAMIC_DISPATCH(forward_##NAME)(n, a, w);                                      \
  }                                                                                     \
  void dispatch(const BatchNorm& n, const BackwardArgs<S>& a, const Work<Wide<S>>& w) { \
    HWY_DYNAMIC_DISPATCH(backward_##NAME)(n, a, w);                                     \
  }
PLIMSOLL_BATCH_NORM_DISPATCH(float, f32)
PLIMSOLL_BATCH_NORM_DISPATCH(double, f64)
PLIMSOLL_BATCH_NORM_DISPATCH(HalfBits, f16)
PLIMSOLL_BATCH_NORM_DISPATCH(BrainBits, bf16)
#undef PLIMSOLL_BATCH_NORM_DISPATCH

// Takes the arguments of a kernel one by one: data as S, rows of channels as T, by way of scratch where they
// are halves.
template <class S, class T = Wide<S>>
struct Reader {
  const BatchNorm& n;
  void* const* args;
  T* narrow;
  std::array<std::pair<T*, void*>, kNarrowRows> results = {};
  size_t count = 0;

  S* data() { return static_cast<S*>(*args++); }
  const T* channels() {
    void* const given = *args++;
    if (!is_half(n.channel_type)) return static_cast<const T*>(given);
    T* const row = std::exchange(narrow, narrow + n.channels);
    if constexpr (std::is_same_v<T, float>) widen_row(n.channel_type, given, n.channels, row);
    return row;
  }
  T* result() {
    void* const wanted = *args++;
    if (!is_half(n.channel_type)) return static_cast<T*>(wanted);
    T* const row = std::exchange(narrow, narrow + n.channels);
    results[count++] = {row, wanted};
    return row;
  }
  void finish() const {
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, float>)
        narrow_row(results[i].first, n.channels, n.channel_type, results[i].second);
    }
  }
};

template <class S>
void run_forward(const BatchNorm& n, void* const* args) {
  const auto w = work_at<Wide<S>>(n, args[n.residual ? 7 : 6]);
  Reader<S> r{n, args, w.narrow};
  ForwardArgs<S> a{};
  a.x = r.data(), a.gamma = r.channels(), a.beta = r.channels();
  if (n.residual) a.residual = r.data();
  a.y = r.data(), a.mean = r.result(), a.variance = r.result();
  dispatch(n, a, w);
  r.finish();
}

template <class S>
void run_backward(const BatchNorm& n, void* const* args) {
  const auto w = work_at<Wide<S>>(n, args[8 + n.relu + n.beta + (n.relu && n.residual)]);
  Reader<S> r{n, args, w.narrow};
  BackwardArgs<S> a{};
  a.dy = r.data(), a.x = r.data();
  a.gamma = r.channels(), a.mean = r.channels(), a.variance = r.channels();
  if (n.relu) a.y = r.data();
  if (n.beta) ++r.args;
  a.dx = r.data(), a.dgamma = r.result(), a.dbeta = r.result();
  if (n.relu && n.residual) a.dresidual = r.data();
  dispatch(n, a, w);
  r.finish();
}

BatchNorm state_of(const KernelQuery& q, const Shape& x) {
  BatchNorm n;
  n.channels = x[x.rank() - 1];
  n.rows = n.channels == 0 ? 0 : x.elements() / n.channels;
  n.epsilon = q.attrs.real("epsilon");
  n.relu = q.attrs.string("activation") == "relu";
  n.residual = q.attrs.flag("residual");
  const Attr* input_relu = q.attrs.find("input_relu");  // of the gradient only
  n.input_relu = input_relu != nullptr && std::get<bool>(*input_relu);
  n.channel_type = q.in[2].dtype;  // beta's, or gamma's
  n.beta = q.in.size() == 7;
  n.threads = q.threads;
  return n;
}

template <template <class> class Run>
Kernel kernel_for(const KernelQuery& q, const BatchNorm& n) {
  return with_float(q.in[0].dtype, "batch_norm", [&]<class S>(S) {
    return make_kernel<BatchNorm, Run<S>::run>("highway", n, work_bytes<Wide<S>>(n));
  });
}
template <class S>
struct Forward {
  static void run(const BatchNorm& n, void* const* args) { run_forward<S>(n, args); }
};
template <class S>
struct Backward {
  static void run(const BatchNorm& n, void* const* args) { run_backward<S>(n, args); }
};

}  // namespace

namespace highway {
Kernel prepare_batch_norm(const KernelQuery& q) { return kernel_for<Forward>(q, state_of(q, q.in[0].shape)); }
Kernel prepare_batch_norm_grad(const KernelQuery& q) {
  return kernel_for<Backward>(q, state_of(q, q.in[1].shape));
}
}  // namespace highway
}  // namespace plimsoll
#endif

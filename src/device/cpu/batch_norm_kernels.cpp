#include "device/cpu/batch_norm_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "device/cpu/row_chunks.h"
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

struct BatchNorm {
  int64_t rows = 0, channels = 0;
  double epsilon = 0;
  bool relu = false, residual = false, input_relu = false;
  int threads = 1;

  int64_t chunk_rows() const { return std::max<int64_t>(kGroup, kChunkSize / channels / kGroup * kGroup); }
  int64_t chunks() const { return rows == 0 ? 0 : (rows - 1) / chunk_rows() + 1; }
};

// Pointers into scratch: two rows of sums per chunk, then rows of doubles and of coefficients, one per
// channel.
template <class T>
struct Work {
  T* sums;
  double *mean, *square;
  T *a, *b, *c;
};

template <class T>
int64_t work_bytes(const BatchNorm& n) {
  return n.channels *
         static_cast<int64_t>((2 * static_cast<size_t>(n.chunks()) + 3) * sizeof(T) + 2 * sizeof(double));
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
  return w;
}

template <class T>
struct ForwardArgs {
  const T *x, *gamma, *beta, *residual;
  T *y, *mean, *variance;
};
template <class T>
struct BackwardArgs {
  const T *dy, *x, *gamma, *mean, *variance, *y;
  T *dx, *dgamma, *dbeta, *dresidual;
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
template <class T>
void chunk_sums(const T* x, int64_t rows, size_t channels, T* sum, T* square) {
  const hn::ScalableTag<T> d;
  std::fill_n(sum, channels, T{0});
  std::fill_n(square, channels, T{0});
  for (int64_t r = 0; r < rows; r += kGroup) {
    const T* from = x + r * static_cast<int64_t>(channels);
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

// Chan's rule for the union of two samples, chunk after chunk.
template <class T>
void merge_statistics(const BatchNorm& n, const T* x, const Work<T>& w) {
  std::fill_n(w.mean, n.channels, 0.0);
  std::fill_n(w.square, n.channels, 0.0);
  for (int64_t chunk = 0; chunk < n.chunks(); ++chunk) {
    const int64_t before = chunk * n.chunk_rows();
    const auto count = static_cast<double>(std::min(n.chunk_rows(), n.rows - before));
    const double all = static_cast<double>(before) + count;
    const double share = count / all, weight = static_cast<double>(before) * share;
    const T* first = x + before * n.channels;
    const T* sum = w.sums + 2 * chunk * n.channels;
    const T* square = sum + n.channels;
    for (int64_t c = 0; c < n.channels; ++c) {
      const double s = sum[c];
      const double delta = static_cast<double>(first[c]) + s / count - w.mean[c];
      w.mean[c] += delta * share;
      w.square[c] += static_cast<double>(square[c]) - s * s / count + delta * delta * weight;
    }
  }
}

template <class T>
void normalize_rows(const BatchNorm& n, const ForwardArgs<T>& a, const Work<T>& w, int64_t begin,
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

template <class T>
void forward(const BatchNorm& n, const ForwardArgs<T>& a, const Work<T>& w) {
  const auto channels = static_cast<size_t>(n.channels);
  parallel_for(n.chunks(), n.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = chunk * n.chunk_rows();
    T* const sum = w.sums + 2 * chunk * n.channels;
    chunk_sums(a.x + begin * n.channels, std::min(n.chunk_rows(), n.rows - begin), channels, sum,
               sum + n.channels);
  });
  merge_statistics(n, a.x, w);
  const double rows = static_cast<double>(std::max<int64_t>(n.rows, 1));
  for (int64_t c = 0; c < n.channels; ++c) {
    const double variance = std::max(w.square[c], 0.0) / rows;
    a.mean[c] = static_cast<T>(w.mean[c]);
    a.variance[c] = static_cast<T>(w.square[c] != w.square[c] ? w.square[c] : variance);
    w.a[c] = static_cast<T>(static_cast<double>(a.gamma[c]) /
                            std::sqrt(static_cast<double>(a.variance[c]) + n.epsilon));
  }
  parallel_rows(n.rows, n.channels, n.threads,
                [&](int64_t begin, int64_t end) { normalize_rows(n, a, w, begin, end); });
}

// dz, the gradient below the activation, of the vector at hand.
template <class T, class D, class Load>
HWY_INLINE hn::Vec<D> below_activation(const BatchNorm& n, const BackwardArgs<T>& a, D d, int64_t at,
                                       const Load& load) {
  const auto dy = load(a.dy + at, T{0});
  if (!n.relu) return dy;
  return hn::IfThenElseZero(hn::Gt(load(a.y + at, T{0}), hn::Zero(d)), dy);
}

// Sums of dz and of dz * (x - mean) over rows [begin, end).
template <class T>
void chunk_gradient_sums(const BatchNorm& n, const BackwardArgs<T>& a, int64_t begin, int64_t end, T* sum,
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
template <class T>
void gradient_rows(const BatchNorm& n, const BackwardArgs<T>& a, const Work<T>& w, int64_t begin,
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

template <class T>
void backward(const BatchNorm& n, const BackwardArgs<T>& a, const Work<T>& w) {
  parallel_for(n.chunks(), n.threads, [&](int64_t chunk, int) noexcept {
    const int64_t begin = chunk * n.chunk_rows();
    T* const sum = w.sums + 2 * chunk * n.channels;
    chunk_gradient_sums(n, a, begin, std::min(n.rows, begin + n.chunk_rows()), sum, sum + n.channels);
  });
  std::fill_n(w.mean, n.channels, 0.0);    // here: the sum of dz,
  std::fill_n(w.square, n.channels, 0.0);  // and of dz * (x - mean)
  for (int64_t chunk = 0; chunk < n.chunks(); ++chunk) {
    const T* sum = w.sums + 2 * chunk * n.channels;
    for (int64_t c = 0; c < n.channels; ++c) w.mean[c] += static_cast<double>(sum[c]);
    for (int64_t c = 0; c < n.channels; ++c) w.square[c] += static_cast<double>(sum[n.channels + c]);
  }
  const double rows = static_cast<double>(std::max<int64_t>(n.rows, 1));
  for (int64_t c = 0; c < n.channels; ++c) {
    const double rstd = 1 / std::sqrt(static_cast<double>(a.variance[c]) + n.epsilon);
    const double scale = static_cast<double>(a.gamma[c]) * rstd;
    a.dbeta[c] = static_cast<T>(w.mean[c]);
    a.dgamma[c] = static_cast<T>(w.square[c] * rstd);
    w.a[c] = static_cast<T>(scale);
    w.b[c] = static_cast<T>(-scale * rstd * rstd * w.square[c] / rows);
    w.c[c] = static_cast<T>(-scale * w.mean[c] / rows);
  }
  parallel_rows(n.rows, n.channels, n.threads,
                [&](int64_t begin, int64_t end) { gradient_rows(n, a, w, begin, end); });
}

void forward_f32(const BatchNorm& n, const ForwardArgs<float>& a, const Work<float>& w) { forward(n, a, w); }
void forward_f64(const BatchNorm& n, const ForwardArgs<double>& a, const Work<double>& w) {
  forward(n, a, w);
}
void backward_f32(const BatchNorm& n, const BackwardArgs<float>& a, const Work<float>& w) {
  backward(n, a, w);
}
void backward_f64(const BatchNorm& n, const BackwardArgs<double>& a, const Work<double>& w) {
  backward(n, a, w);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

void dispatch(const BatchNorm& n, const ForwardArgs<float>& a, const Work<float>& w) {
  HWY_DYNAMIC_DISPATCH(forward_f32)(n, a, w);
}
void dispatch(const BatchNorm& n, const ForwardArgs<double>& a, const Work<double>& w) {
  HWY_DYNAMIC_DISPATCH(forward_f64)(n, a, w);
}
void dispatch(const BatchNorm& n, const BackwardArgs<float>& a, const Work<float>& w) {
  HWY_DYNAMIC_DISPATCH(backward_f32)(n, a, w);
}
void dispatch(const BatchNorm& n, const BackwardArgs<double>& a, const Work<double>& w) {
  HWY_DYNAMIC_DISPATCH(backward_f64)(n, a, w);
}

// Takes the arguments of a kernel one by one.
template <class T>
struct Reader {
  void* const* args;
  T* next() { return static_cast<T*>(*args++); }
};

template <class T>
void run_forward(const BatchNorm& n, void* const* args) {
  Reader<T> r{args};
  ForwardArgs<T> a{};
  a.x = r.next(), a.gamma = r.next(), a.beta = r.next();
  if (n.residual) a.residual = r.next();
  a.y = r.next(), a.mean = r.next(), a.variance = r.next();
  dispatch(n, a, work_at<T>(n, r.next()));
}

template <class T>
void run_backward(const BatchNorm& n, void* const* args) {
  Reader<T> r{args};
  BackwardArgs<T> a{};
  a.dy = r.next(), a.x = r.next(), a.gamma = r.next(), a.mean = r.next(), a.variance = r.next();
  if (n.relu) a.y = r.next();
  a.dx = r.next(), a.dgamma = r.next(), a.dbeta = r.next();
  if (n.relu && n.residual) a.dresidual = r.next();
  dispatch(n, a, work_at<T>(n, r.next()));
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
  n.threads = q.threads;
  return n;
}

Kernel forward_kernel(const KernelQuery& q) {
  const BatchNorm n = state_of(q, q.in[0].shape);
  if (q.in[0].dtype == DType::f64)
    return make_kernel<BatchNorm, run_forward<double>>("highway", n, work_bytes<double>(n));
  return make_kernel<BatchNorm, run_forward<float>>("highway", n, work_bytes<float>(n));
}

Kernel backward_kernel(const KernelQuery& q) {
  const BatchNorm n = state_of(q, q.in[1].shape);
  if (q.in[0].dtype == DType::f64)
    return make_kernel<BatchNorm, run_backward<double>>("highway", n, work_bytes<double>(n));
  return make_kernel<BatchNorm, run_backward<float>>("highway", n, work_bytes<float>(n));
}

}  // namespace

namespace highway {
Kernel prepare_batch_norm(const KernelQuery& q) { return prepare_widened(q, forward_kernel); }
Kernel prepare_batch_norm_grad(const KernelQuery& q) { return prepare_widened(q, backward_kernel); }
}  // namespace highway
}  // namespace plimsoll
#endif

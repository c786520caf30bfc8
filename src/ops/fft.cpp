// fft, rfft and irfft along the last axis; complex numbers are pairs of real tensors. Computed in float64.
#include <cmath>
#include <memory>

#include "device/aligned.h"
#include "device/cpu/fft.h"
#include "device/cpu/typed.h"
#include "ops/axis_rows.h"
#include "ops/float_ops.h"

namespace plimsoll {
namespace {

using Number = Fft::Number;

void require_parts(const OpCall& call) {
  for (const TensorType& t : call.in) {
    require(t.dtype == DType::f32 || t.dtype == DType::f64, call.op.name, "expected float32 or float64, got ",
            t);
    require(t.shape.rank() >= 1 && t.shape.dim(-1) >= 1, call.op.name,
            "expected a last axis with elements, got ", t);
    require(t == call.in[0], call.op.name, "expected real and imaginary parts of one type, got ", call.in[0],
            " and ", t);
  }
}

Shape with_last(const Shape& s, int64_t size) { return s.with(s.rank() - 1, size); }

std::vector<TensorType> infer_fft(const OpCall& call) {
  require_parts(call);
  return {call.in[0], call.in[1]};
}
std::vector<TensorType> infer_rfft(const OpCall& call) {
  require_parts(call);
  const TensorType half{call.in[0].dtype, with_last(call.in[0].shape, call.in[0].shape.dim(-1) / 2 + 1)};
  return {half, half};
}
std::vector<TensorType> infer_irfft(const OpCall& call) {
  require_parts(call);
  const int64_t length = call.attrs.integer("length");
  require(length >= 1 && length / 2 + 1 == call.in[0].shape.dim(-1), "irfft",
          "expected length/2 + 1 values, got ", call.in[0].shape.dim(-1), " for length ", length);
  return {{call.in[0].dtype, with_last(call.in[0].shape, length)}};
}

enum class Kind : uint8_t { plain, from_real, to_real };

struct State {
  std::shared_ptr<const Fft> fft;
  int64_t rows, in, out;  // in, out: numbers of a row
  bool inverse;
  int64_t row_bytes;  // of a thread's scratch
  int threads;
  int64_t held() const { return fft->bytes(); }
};

// A row as complex numbers. Backwards, the conjugates: their transform is the conjugate of the one wanted.
template <class T, Kind K>
void read_row(const State& s, void* const* args, int64_t row, Number* x) {
  const T* re = static_cast<const T*>(args[0]) + row * s.in;
  const T* im = K == Kind::from_real ? nullptr : static_cast<const T*>(args[1]) + row * s.in;
  const double sign = s.inverse ? -1 : 1;
  for (int64_t k = 0; k < s.in; ++k) x[k] = {re[k], im ? sign * im[k] : 0};
  if constexpr (K == Kind::to_real) {
    x[0] = x[0].real();  // what has no mirror image counts as real
    if (s.out % 2 == 0) x[s.in - 1] = x[s.in - 1].real();
    for (int64_t k = s.in; k < s.out; ++k) x[k] = std::conj(x[s.out - k]);
  }
}

template <class T, Kind K>
void write_row(const State& s, void* const* out, int64_t row, const Number* x) {
  T* re = static_cast<T*>(out[0]) + row * s.out;
  T* im = K == Kind::to_real ? nullptr : static_cast<T*>(out[1]) + row * s.out;
  const double scale = s.inverse ? 1 / static_cast<double>(s.fft->size()) : 1, sign = s.inverse ? -1 : 1;
  for (int64_t k = 0; k < s.out; ++k) {
    re[k] = static_cast<T>(scale * x[k].real());
    if (im) im[k] = static_cast<T>(sign * scale * x[k].imag());
  }
}

template <class T, Kind K>
void run(const State& s, void* const* args) {
  constexpr int kIn = K == Kind::from_real ? 1 : 2, kOut = K == Kind::to_real ? 1 : 2;
  char* scratch = static_cast<char*>(args[kIn + kOut]);
  each_row(s.rows, 32 * s.fft->size(), s.threads, [&](int64_t row, int thread) noexcept {
    Number* x = reinterpret_cast<Number*>(scratch + thread * s.row_bytes);
    read_row<T, K>(s, args, row, x);
    s.fft->run(x, x + s.fft->size());
    write_row<T, K>(s, args + kIn, row, x);
  });
}

template <Kind K>
Kernel prepare(const KernelQuery& q) {
  const int64_t in = q.in[0].shape.dim(-1), out = q.out[0].shape.dim(-1);
  State s{std::make_shared<const Fft>(std::max(in, out)),
          q.in[0].shape.elements() / in,
          in,
          out,
          false,
          0,
          std::max(q.threads, 1)};
  s.inverse = K == Kind::to_real || (K == Kind::plain && q.attrs.flag("inverse"));
  s.row_bytes = aligned((s.fft->size() + s.fft->work()) * static_cast<int64_t>(sizeof(Number)));
  const int64_t scratch = s.row_bytes * s.threads;
  return q.in[0].dtype == DType::f64 ? make_kernel<State, run<double, K>>("rows", std::move(s), scratch)
                                     : make_kernel<State, run<float, K>>("rows", std::move(s), scratch);
}

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const double n = static_cast<double>(std::max(call.in[0].shape.dim(-1), out[0].shape.dim(-1)));
  return streaming_cost(call, out, 10 * std::log2(n + 1));
}

Tensor zeros_like(const Tensor& t) { return broadcast_to(t.graph().constant(scalar_like(t, 0)), t.shape()); }

// Both gradients of a pair, zeros where there is none.
std::vector<Tensor> douts(const GradContext& g) {
  const Tensor& some = g.has_dout(0) ? g.dout(0) : g.dout(1);
  return {g.has_dout(0) ? g.dout(0) : zeros_like(some), g.has_dout(1) ? g.dout(1) : zeros_like(some)};
}

// The transposed conjugate of a transform is the other one, but for the scale.
void grad_fft(GradContext& g) {
  const bool inverse = g.attrs().flag("inverse");
  const std::vector<Tensor> dy = douts(g);
  const double n = static_cast<double>(g.in(0).dim(-1)), scale = inverse ? 1 / n : n;
  const std::vector<Tensor> dx = inverse ? fft(dy[0], dy[1]) : ifft(dy[0], dy[1]);
  for (int i = 0; i < 2; ++i) g.set(i, dx[static_cast<size_t>(i)] * scale);
}

Tensor padded(const Tensor& x, int64_t size) {
  Ints low(static_cast<size_t>(x.rank()), 0), high = low;
  high.back() = size - x.dim(-1);
  return pad(x, low, high);
}

void grad_rfft(GradContext& g) {
  const int64_t n = g.in(0).dim(-1);
  const std::vector<Tensor> dy = douts(g);
  g.set(0, ifft(padded(dy[0], n), padded(dy[1], n))[0] * static_cast<double>(n));
}

// Values with a mirror image count twice.
void grad_irfft(GradContext& g) {
  const int64_t length = g.attrs().integer("length"), half = g.in(0).dim(-1);
  const Tensor k = iota(DType::i64, {half}, 0);
  const Tensor alone =
      bitwise_or(equal(k, scalar_like(k, 0)), equal(k * 2.0, scalar_like(k, static_cast<double>(length))));
  const double n = static_cast<double>(length);
  const Tensor weight = where(alone, scalar_like(g.dout(), 1 / n), scalar_like(g.dout(), 2 / n));
  const std::vector<Tensor> y = rfft(g.dout());
  for (int i = 0; i < 2; ++i) g.set(i, y[static_cast<size_t>(i)] * weight);
}

// Lengths of every kind: powers of 2, small primes, large ones.
constexpr int64_t kLengths[] = {1, 2, 8, 30, 37, 128, 202, 343};

std::vector<OpCase> cases_fft() {
  std::vector<OpCase> list;
  for (const int64_t n : kLengths) {
    for (const bool inverse : {false, true})
      list.push_back({{{{3, n}}, {{3, n}}}, {{"inverse", inverse}}, n < 50});
  }
  list.push_back({{{{2, 3, 12}}, {{2, 3, 12}}}, {}});
  return list;
}
std::vector<OpCase> cases_rfft() {
  std::vector<OpCase> list;
  for (const int64_t n : kLengths) list.push_back({{{{3, n}}}, {}, n < 50});
  return list;
}
std::vector<OpCase> cases_irfft() {
  std::vector<OpCase> list;
  for (const int64_t n : kLengths)
    list.push_back({{{{3, n / 2 + 1}}, {{3, n / 2 + 1}}}, {{"length", n}}, n < 50});
  return list;
}

constexpr AttrDef kFftAttrs[] = {{"inverse", AttrKind::boolean, "false"}};
constexpr AttrDef kIrfftAttrs[] = {{"length", AttrKind::integer}};
constexpr KernelDef kPlain[] = {{.name = "reference", .prepare = prepare<Kind::plain>}};
constexpr KernelDef kFromReal[] = {{.name = "reference", .prepare = prepare<Kind::from_real>}};
constexpr KernelDef kToReal[] = {{.name = "reference", .prepare = prepare<Kind::to_real>}};

constexpr OpDef kDefs[] = {{.name = "fft",
                            .arity = {2, 2},
                            .attrs = kFftAttrs,
                            .infer = infer_fft,
                            .grad = grad_fft,
                            .kernels = kPlain,
                            .cost = cost,
                            .cases = cases_fft,
                            .dtypes = kFloats32Up},
                           {.name = "rfft",
                            .infer = infer_rfft,
                            .grad = grad_rfft,
                            .kernels = kFromReal,
                            .cost = cost,
                            .cases = cases_rfft,
                            .dtypes = kFloats32Up},
                           {.name = "irfft",
                            .arity = {2, 2},
                            .attrs = kIrfftAttrs,
                            .infer = infer_irfft,
                            .grad = grad_irfft,
                            .kernels = kToReal,
                            .cost = cost,
                            .cases = cases_irfft,
                            .dtypes = kFloats32Up}};

// Integers and halves are computed in float32.
DType met(const Tensor& a, const Tensor& b) {
  return promote(a.dtype(), b.dtype()) == DType::f64 ? DType::f64 : DType::f32;
}

std::vector<Tensor> transform(const Tensor& re, const Tensor& im, bool inverse) {
  const DType t = met(re, im);
  return apply(kDefs[0], std::array{cast(re, t), cast(im, t)}, {{"inverse", inverse}});
}

// Along the last axis, then along the one before it.
std::vector<Tensor> both_axes(const Tensor& re, const Tensor& im, bool inverse) {
  require(re.rank() >= 2, "fft2", "expected at least two axes, got ", re.type());
  Ints order;
  for (int i = 0; i < re.rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  std::vector<Tensor> y = transform(re, im, inverse);
  y = transform(transpose(y[0], order), transpose(y[1], order), inverse);
  return {transpose(y[0], order), transpose(y[1], order)};
}

}  // namespace

std::span<const OpDef> ops_fft() { return kDefs; }

std::vector<Tensor> fft(const Tensor& real, const Tensor& imag) { return transform(real, imag, false); }
std::vector<Tensor> ifft(const Tensor& real, const Tensor& imag) { return transform(real, imag, true); }
std::vector<Tensor> fft2(const Tensor& real, const Tensor& imag) { return both_axes(real, imag, false); }
std::vector<Tensor> ifft2(const Tensor& real, const Tensor& imag) { return both_axes(real, imag, true); }

std::vector<Tensor> rfft(const Tensor& x) {
  const Tensor wide_x = cast(x, met(x, x));
  return apply(kDefs[1], std::span(&wide_x, 1));
}
Tensor irfft(const Tensor& real, const Tensor& imag, int64_t length) {
  const DType t = met(real, imag);
  return apply1(kDefs[2], {cast(real, t), cast(imag, t)}, {{"length", length}});
}

}  // namespace plimsoll

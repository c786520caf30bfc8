#include "device/cpu/lstm_kernels.h"

#include <cstring>

#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/lstm_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/panel_gemm-inl.h"

#ifndef PLIMSOLL_DEVICE_CPU_LSTM_ONCE_
#define PLIMSOLL_DEVICE_CPU_LSTM_ONCE_
namespace plimsoll {
namespace {

// Batch rows [begin, end) of the forward pass. z, h, c_first and x_rows are this thread's own. Without
// packed_kernel, gates holds x . kernel + bias already.
template <class T, class S>
struct ForwardBlock {
  const RnnSizes& s;
  int64_t begin, end;
  const S *x, *h0, *c0, *bias;
  const T *packed, *packed_kernel;
  S *y, *h_last, *c_last;
  T *gates, *cells;
  T *z, *h, *c_first, *x_rows;
};

// The same backwards. dz_rows, dh and dc are this thread's own, dz and before hold all steps. dx is computed
// here if there is a packed_kernel.
template <class T>
struct BackwardBlock {
  const RnnSizes& s;
  int64_t begin, end;
  const T *h0, *c0, *packed, *packed_kernel, *y, *gates, *cells, *dy, *dh_last, *dc_last;
  T *dh0, *dc0, *dz, *before, *dx;
  T *dz_rows, *dh, *dc;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One row of one step: the gates of z + add. `add` may be the same bytes as `gates`.
template <class T, class A, class S>
HWY_INLINE void cell_forward(const T* z, const A* add, T* gates, const T* c_before, T* c, T* h, S* y,
                             size_t u) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, u, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto in = vm::sigmoid(d, hn::Add(load(z, 0), load(add, 0)));
    const auto forget = vm::sigmoid(d, hn::Add(load(z + u, 0), load(add + u, 0)));
    const auto candidate = vm::tanh(d, hn::Add(load(z + 2 * u, 0), load(add + 2 * u, 0)));
    const auto out = vm::sigmoid(d, hn::Add(load(z + 3 * u, 0), load(add + 3 * u, 0)));
    const auto cell = hn::MulAdd(forget, load(c_before, 0), hn::Mul(in, candidate));
    const auto hidden = hn::Mul(out, vm::tanh(d, cell));
    store(in, gates);
    store(forget, gates + u);
    store(candidate, gates + 2 * u);
    store(out, gates + 3 * u);
    store(cell, c);
    store(hidden, h);
    store(hidden, y);
  });
}

// dh and dc are the gradients by this step's h and c; dc becomes the one by the cell before.
template <class T>
HWY_INLINE void cell_backward(const T* gates, const T* c_before, const T* c, const T* dy, const T* dh, T* dc,
                              T* dz, T* dz_row, size_t u) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  vm::for_vectors(d, u, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto in = load(gates, 0), forget = load(gates + u, 0);
    const auto candidate = load(gates + 2 * u, 0), out = load(gates + 3 * u, 0);
    const auto squashed = vm::tanh(d, load(c, 0));
    const auto up = dy == nullptr ? load(dh, 0) : hn::Add(load(dh, 0), load(dy, 0));
    const auto dcell = hn::MulAdd(hn::Mul(up, out), hn::NegMulAdd(squashed, squashed, one), load(dc, 0));
    const auto slope = [&](hn::Vec<decltype(d)> s) HWY_ATTR { return hn::Mul(s, hn::Sub(one, s)); };
    const auto d_in = hn::Mul(hn::Mul(dcell, candidate), slope(in));
    const auto d_forget = hn::Mul(hn::Mul(dcell, load(c_before, 0)), slope(forget));
    const auto d_candidate = hn::Mul(hn::Mul(dcell, in), hn::NegMulAdd(candidate, candidate, one));
    const auto d_out = hn::Mul(hn::Mul(up, squashed), slope(out));
    for (T* to : {dz, dz_row}) {
      store(d_in, to);
      store(d_forget, to + u);
      store(d_candidate, to + 2 * u);
      store(d_out, to + 3 * u);
    }
    store(hn::Mul(dcell, forget), dc);
  });
}

template <class T, class S>
void forward_block(const ForwardBlock<T, S>& b) {
  const auto u = static_cast<size_t>(b.s.units), rows = static_cast<size_t>(b.end - b.begin);
  const auto f = static_cast<size_t>(b.s.features);
  const auto row_of = [&](auto* p, size_t r, int64_t t, size_t n) {
    return p + (static_cast<size_t>((b.begin + static_cast<int64_t>(r)) * b.s.time + t)) * n;
  };
  const size_t first = static_cast<size_t>(b.begin) * u;
  panel::convert<T>(b.h0 + first, b.h, rows * u);
  panel::convert<T>(b.c0 + first, b.c_first, rows * u);
  for (int64_t step = 0; step < b.s.time; ++step) {
    const int64_t t = b.s.at(step), last = b.s.before(t);
    if (b.packed_kernel != nullptr) {
      // Rows of one step lie `time` rows apart, often a multiple of 4 KiB: side by side they share the cache.
      for (size_t r = 0; r < rows; ++r) panel::convert<T>(row_of(b.x, r, t, f), b.x_rows + r * f, f);
      panel::multiply<T>({b.x_rows, f, 1}, b.packed_kernel, f, rows, 4 * u, f, b.z, 4 * u, false);
    }
    panel::multiply<T>({b.h, u, 1}, b.packed, u, rows, 4 * u, u, b.z, 4 * u, b.packed_kernel != nullptr);
    for (size_t r = 0; r < rows; ++r) {
      const T *const c_before = step == 0 ? b.c_first + r * u : row_of(b.cells, r, last, u),
                     *z = b.z + r * 4 * u;
      T *const gates = row_of(b.gates, r, t, 4 * u), *const c = row_of(b.cells, r, t, u),
               *const h = b.h + r * u;
      S* const y = row_of(b.y, r, t, u);
      if (b.packed_kernel != nullptr)
        cell_forward(z, b.bias, gates, c_before, c, h, y, u);
      else
        cell_forward(z, gates, gates, c_before, c, h, y, u);
    }
  }
  const int64_t end = b.s.at(b.s.time - 1);
  for (size_t r = 0; r < rows; ++r) {
    const size_t at = (static_cast<size_t>(b.begin) + r) * u;
    const T* c = b.s.time == 0 ? b.c_first + r * u : row_of(b.cells, r, end, u);
    panel::convert<T>(b.h + r * u, b.h_last + at, u);
    panel::convert<T>(c, b.c_last + at, u);
  }
}

template <class T>
void start(const T* given, size_t at, size_t n, T* to) {
  if (given == nullptr) {
    std::memset(to, 0, n * sizeof(T));
  } else {
    std::memcpy(to, given + at, n * sizeof(T));
  }
}

template <class T>
void backward_block(const BackwardBlock<T>& b) {
  const auto u = static_cast<size_t>(b.s.units), rows = static_cast<size_t>(b.end - b.begin);
  const size_t first = static_cast<size_t>(b.begin) * u, f = static_cast<size_t>(b.s.features);
  const auto row = [&](size_t r, int64_t t) {
    return static_cast<size_t>((b.begin + static_cast<int64_t>(r)) * b.s.time + t);
  };
  start(b.dh_last, first, rows * u, b.dh);
  start(b.dc_last, first, rows * u, b.dc);
  for (int64_t step = b.s.time - 1; step >= 0; --step) {
    const int64_t t = b.s.at(step), last = b.s.before(t);
    for (size_t r = 0; r < rows; ++r) {
      const size_t at = row(r, t);
      const T* c_before = step == 0 ? b.c0 + first + r * u : b.cells + row(r, last) * u;
      const T* h_before = step == 0 ? b.h0 + first + r * u : b.y + row(r, last) * u;
      cell_backward(b.gates + at * 4 * u, c_before, b.cells + at * u,
                    b.dy == nullptr ? nullptr : b.dy + at * u, b.dh + r * u, b.dc + r * u, b.dz + at * 4 * u,
                    b.dz_rows + r * 4 * u, u);
      std::memcpy(b.before + at * u, h_before, u * sizeof(T));
    }
    panel::multiply<T>({b.dz_rows, 4 * u, 1}, b.packed, 4 * u, rows, u, 4 * u, b.dh, u, false);
    if (b.packed_kernel != nullptr) {
      panel::multiply<T>({b.dz_rows, 4 * u, 1}, b.packed_kernel, 4 * u, rows, f, 4 * u, b.dx + row(0, t) * f,
                         static_cast<size_t>(b.s.time) * f, false);
    }
  }
  std::memcpy(b.dh0 + first, b.dh, rows * u * sizeof(T));
  std::memcpy(b.dc0 + first, b.dc, rows * u * sizeof(T));
}

void forward_f32(const ForwardBlock<float, float>& b) { forward_block(b); }
void forward_f64(const ForwardBlock<double, double>& b) { forward_block(b); }
void forward_f16(const ForwardBlock<float, HalfBits>& b) { forward_block(b); }
void forward_bf16(const ForwardBlock<float, BrainBits>& b) { forward_block(b); }
void backward_f32(const BackwardBlock<float>& b) { backward_block(b); }
void backward_f64(const BackwardBlock<double>& b) { backward_block(b); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {
namespace {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f64);
HWY_EXPORT(forward_f16);
HWY_EXPORT(forward_bf16);
HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

void run_block(const ForwardBlock<float, float>& b) { HWY_DYNAMIC_DISPATCH(forward_f32)(b); }
void run_block(const ForwardBlock<double, double>& b) { HWY_DYNAMIC_DISPATCH(forward_f64)(b); }
void run_block(const ForwardBlock<float, HalfBits>& b) { HWY_DYNAMIC_DISPATCH(forward_f16)(b); }
void run_block(const ForwardBlock<float, BrainBits>& b) { HWY_DYNAMIC_DISPATCH(forward_bf16)(b); }
void run_block(const BackwardBlock<float>& b) { HWY_DYNAMIC_DISPATCH(backward_f32)(b); }
void run_block(const BackwardBlock<double>& b) { HWY_DYNAMIC_DISPATCH(backward_f64)(b); }

template <class T>
const T* as(const void* p) {
  return static_cast<const T*>(p);
}
template <class T>
T* as(void* p) {
  return static_cast<T*>(p);
}

// With few rows a step would read all of the kernel for little work. Never a matter of threads: the two ways
// round differently.
bool input_by_step(const RnnSizes& s) { return s.batch >= 16; }

}  // namespace

LstmForward::LstmForward(const RnnSizes& sizes)
    : s_(sizes), by_step_(input_by_step(sizes)), project_(input_projection(sizes, 4)) {
  const int64_t size = s_.wide_size();
  packed_ = take_bytes(scratch_, packed_elements(s_.dtype, s_.units, 4 * s_.units) * size);
  if (by_step_)
    packed_kernel_ = take_bytes(scratch_, packed_elements(s_.dtype, s_.features, 4 * s_.units) * size);
  local_bytes_ = aligned(s_.block() * (s_.units * 6 + s_.features) * size);
  local_ = take_bytes(scratch_, local_bytes_ * s_.threads);
  const auto bytes = [](const auto& gemm) { return gemm.scratch_bytes(); };
  gemm_ = take_bytes(scratch_, by_step_ ? 0 : std::visit(bytes, project_));
}

void LstmForward::run(const Args& a, void* scratch) const {
  const int64_t width = 4 * s_.units;
  void* const packed = bytes_at(scratch, packed_);
  void* const packed_kernel = by_step_ ? bytes_at(scratch, packed_kernel_) : nullptr;
  pack_panels(s_.dtype, a.recurrent, width, 1, s_.units, width, packed);
  if (by_step_) {
    pack_panels(s_.dtype, a.kernel, width, 1, s_.features, width, packed_kernel);
  } else {
    void* const gemm_scratch = bytes_at(scratch, gemm_);
    std::visit([&](const auto& gemm) { gemm.run(a.x, a.kernel, a.bias, a.gates, gemm_scratch); }, project_);
  }
  with_float(s_.dtype, "lstm", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    auto block = [&](int64_t c, int thread) noexcept {
      const int64_t begin = c * s_.block(), end = std::min(s_.batch, begin + s_.block());
      const int64_t n = s_.block() * s_.units;
      T* const local = reinterpret_cast<T*>(bytes_at(scratch, local_ + thread * local_bytes_));
      run_block(ForwardBlock<T, S>{s_, begin, end, as<S>(a.x), as<S>(a.h0), as<S>(a.c0), as<S>(a.bias),
                                   as<T>(packed), as<T>(packed_kernel), as<S>(a.y), as<S>(a.h_last),
                                   as<S>(a.c_last), as<T>(a.gates), as<T>(a.cells), local, local + 4 * n,
                                   local + 5 * n, local + 6 * n});
    };
    parallel_for(s_.blocks(), s_.step_threads(), block);
  });
}

LstmBackward::LstmBackward(const RnnSizes& sizes, bool wants_dx)
    : s_(sizes),
      by_step_(wants_dx && input_by_step(sizes)),
      for_kernel_(weight_gradient(sizes, 4, sizes.features)),
      for_recurrent_(weight_gradient(sizes, 4, sizes.units)),
      for_x_(input_gradient(sizes, 4)) {
  const auto size = static_cast<int64_t>(size_of(s_.dtype));
  packed_ = take_bytes(scratch_, packed_elements(s_.dtype, 4 * s_.units, s_.units) * size);
  if (by_step_)
    packed_kernel_ = take_bytes(scratch_, packed_elements(s_.dtype, 4 * s_.units, s_.features) * size);
  dz_ = take_bytes(scratch_, s_.rows() * 4 * s_.units * size);
  before_ = take_bytes(scratch_, s_.rows() * s_.units * size);
  local_bytes_ = aligned(s_.block() * s_.units * 6 * size);
  local_ = take_bytes(scratch_, local_bytes_ * s_.threads);
  const int64_t most = std::max(for_kernel_.scratch_bytes(), for_recurrent_.scratch_bytes());
  gemm_ = take_bytes(scratch_, std::max(most, wants_dx && !by_step_ ? for_x_.scratch_bytes() : 0));
}

void LstmBackward::run(const Args& a, void* scratch) const {
  const int64_t width = 4 * s_.units;
  void* const packed = bytes_at(scratch, packed_);
  void* const packed_kernel = by_step_ ? bytes_at(scratch, packed_kernel_) : nullptr;
  void* const dz = bytes_at(scratch, dz_);
  void* const before = bytes_at(scratch, before_);
  void* const gemm = bytes_at(scratch, gemm_);
  pack_panels(s_.dtype, a.recurrent, 1, width, width, s_.units, packed);
  if (by_step_) pack_panels(s_.dtype, a.kernel, 1, width, width, s_.features, packed_kernel);
  const auto typed = [&]<class T>(T) {
    auto block = [&](int64_t c, int thread) noexcept {
      const int64_t begin = c * s_.block(), end = std::min(s_.batch, begin + s_.block());
      const int64_t n = s_.block() * s_.units;
      T* const local = reinterpret_cast<T*>(bytes_at(scratch, local_ + thread * local_bytes_));
      run_block(BackwardBlock<T>{s_,
                                 begin,
                                 end,
                                 as<T>(a.h0),
                                 as<T>(a.c0),
                                 as<T>(packed),
                                 as<T>(packed_kernel),
                                 as<T>(a.y),
                                 as<T>(a.gates),
                                 as<T>(a.cells),
                                 as<T>(a.dy),
                                 as<T>(a.dh_last),
                                 as<T>(a.dc_last),
                                 as<T>(a.dh0),
                                 as<T>(a.dc0),
                                 as<T>(dz),
                                 as<T>(before),
                                 as<T>(a.dx),
                                 local,
                                 local + 4 * n,
                                 local + 5 * n});
    };
    parallel_for(s_.blocks(), s_.step_threads(), block);
  };
  s_.dtype == DType::f64 ? typed(double{}) : typed(float{});
  for_kernel_.run(a.x, dz, nullptr, a.dkernel, gemm);
  for_recurrent_.run(before, dz, nullptr, a.drecurrent, gemm);
  column_sums(s_.dtype, dz, s_.rows(), width, a.dbias, s_.threads);
  if (a.dx != nullptr && !by_step_) for_x_.run(dz, a.kernel, nullptr, a.dx, gemm);
}

}  // namespace plimsoll
#endif  // HWY_ONCE

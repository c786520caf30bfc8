#include "device/cpu/gru_kernels.h"

#include <cstring>

#include "device/cpu/thread_pool.h"
#include "device/cpu/typed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/gru_kernels.cpp"
#include "device/cpu/highway.h"
#include "hwy/foreach_target.h"

#include "device/cpu/panel_gemm-inl.h"

#ifndef PLIMSOLL_DEVICE_CPU_GRU_ONCE_
#define PLIMSOLL_DEVICE_CPU_GRU_ONCE_
namespace plimsoll {
namespace {

// Batch rows [begin, end) of the forward pass. z and h are this thread's own.
template <class T, class S>
struct ForwardBlock {
  const RnnSizes& s;
  int64_t begin, end;
  const S *h0, *state_bias;
  const T* packed;
  S *y, *h_last;
  T *gates, *inner;
  T *z, *h;
};

// The same backwards. dz_rows and dh are this thread's own, the dz and `before` hold all steps.
template <class T>
struct BackwardBlock {
  const RnnSizes& s;
  int64_t begin, end;
  const T *h0, *packed, *y, *gates, *inner, *dy, *dh_last;
  T *dh0, *dz_input, *dz_state, *before;
  T *dz_rows, *dh;
};

}  // namespace
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// One row of one step: gates z (update), r (reset), candidate. `gates` holds the input's part before and the
// activated gates after; h goes from the state before to the state after.
template <class T, class S>
HWY_INLINE void cell_forward(const T* z, const S* bias, T* gates, T* inner, T* h, S* y, size_t u) {
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, u, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto state = [&](size_t gate)
                           HWY_ATTR { return hn::Add(load(z + gate * u, 0), load(bias + gate * u, 0)); };
    const auto update = vm::sigmoid(d, hn::Add(load(gates, 0), state(0)));
    const auto reset = vm::sigmoid(d, hn::Add(load(gates + u, 0), state(1)));
    const auto own = state(2);
    const auto candidate = vm::tanh(d, hn::MulAdd(reset, own, load(gates + 2 * u, 0)));
    const auto before = load(h, 0);
    const auto after = hn::MulAdd(update, hn::Sub(before, candidate), candidate);
    store(update, gates);
    store(reset, gates + u);
    store(candidate, gates + 2 * u);
    store(own, inner);
    store(after, h);
    store(after, y);
  });
}

// dh, the gradient by this step's h, becomes the part of the one by the h before that does not go through the
// weights.
template <class T>
HWY_INLINE void cell_backward(const T* gates, const T* inner, const T* h_before, const T* dy, T* dh,
                              T* dz_input, T* dz_state, T* dz_row, size_t u) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  vm::for_vectors(d, u, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    const auto update = load(gates, 0), reset = load(gates + u, 0), candidate = load(gates + 2 * u, 0);
    const auto up = dy == nullptr ? load(dh, 0) : hn::Add(load(dh, 0), load(dy, 0));
    const auto slope = [&](hn::Vec<decltype(d)> s) HWY_ATTR { return hn::Mul(s, hn::Sub(one, s)); };
    const auto d_update = hn::Mul(hn::Mul(up, hn::Sub(load(h_before, 0), candidate)), slope(update));
    const auto d_candidate =
        hn::Mul(hn::Mul(up, hn::Sub(one, update)), hn::NegMulAdd(candidate, candidate, one));
    const auto d_reset = hn::Mul(hn::Mul(d_candidate, load(inner, 0)), slope(reset));
    const auto d_own = hn::Mul(d_candidate, reset);
    store(d_update, dz_input);
    store(d_reset, dz_input + u);
    store(d_candidate, dz_input + 2 * u);
    for (T* to : {dz_state, dz_row}) {
      store(d_update, to);
      store(d_reset, to + u);
      store(d_own, to + 2 * u);
    }
    store(hn::Mul(up, update), dh);
  });
}

template <class T, class S>
void forward_block(const ForwardBlock<T, S>& b) {
  const auto u = static_cast<size_t>(b.s.units), rows = static_cast<size_t>(b.end - b.begin);
  const size_t first = static_cast<size_t>(b.begin) * u;
  panel::convert<T>(b.h0 + first, b.h, rows * u);
  for (int64_t step = 0; step < b.s.time; ++step) {
    const int64_t t = b.s.at(step);
    panel::multiply<T>({b.h, u, 1}, b.packed, u, rows, 3 * u, u, b.z, 3 * u, false);
    for (size_t r = 0; r < rows; ++r) {
      const auto at = static_cast<size_t>((b.begin + static_cast<int64_t>(r)) * b.s.time + t);
      cell_forward(b.z + r * 3 * u, b.state_bias, b.gates + at * 3 * u, b.inner + at * u, b.h + r * u,
                   b.y + at * u, u);
    }
  }
  panel::convert<T>(b.h, b.h_last + first, rows * u);
}

template <class T>
void backward_block(const BackwardBlock<T>& b) {
  const auto u = static_cast<size_t>(b.s.units), rows = static_cast<size_t>(b.end - b.begin);
  const size_t first = static_cast<size_t>(b.begin) * u, bytes = rows * u * sizeof(T);
  const auto row = [&](size_t r, int64_t t) {
    return static_cast<size_t>((b.begin + static_cast<int64_t>(r)) * b.s.time + t);
  };
  b.dh_last == nullptr ? std::memset(b.dh, 0, bytes) : std::memcpy(b.dh, b.dh_last + first, bytes);
  for (int64_t step = b.s.time - 1; step >= 0; --step) {
    const int64_t t = b.s.at(step), last = b.s.before(t);
    for (size_t r = 0; r < rows; ++r) {
      const size_t at = row(r, t);
      const T* h_before = step == 0 ? b.h0 + first + r * u : b.y + row(r, last) * u;
      cell_backward(b.gates + at * 3 * u, b.inner + at * u, h_before,
                    b.dy == nullptr ? nullptr : b.dy + at * u, b.dh + r * u, b.dz_input + at * 3 * u,
                    b.dz_state + at * 3 * u, b.dz_rows + r * 3 * u, u);
      std::memcpy(b.before + at * u, h_before, u * sizeof(T));
    }
    panel::multiply<T>({b.dz_rows, 3 * u, 1}, b.packed, 3 * u, rows, u, 3 * u, b.dh, u, true);
  }
  std::memcpy(b.dh0 + first, b.dh, bytes);
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

}  // namespace

GruForward::GruForward(const RnnSizes& sizes) : s_(sizes), project_(input_projection(sizes, 3)) {
  const int64_t size = s_.wide_size();
  packed_ = take_bytes(scratch_, packed_elements(s_.dtype, s_.units, 3 * s_.units) * size);
  local_bytes_ = aligned(s_.block() * s_.units * 4 * size);
  local_ = take_bytes(scratch_, local_bytes_ * s_.threads);
  gemm_ = take_bytes(scratch_, std::visit([](const auto& gemm) { return gemm.scratch_bytes(); }, project_));
}

void GruForward::run(const Args& a, void* scratch) const {
  void *const gemm_scratch = bytes_at(scratch, gemm_), *const packed = bytes_at(scratch, packed_);
  std::visit([&](const auto& gemm) { gemm.run(a.x, a.kernel, a.bias, a.gates, gemm_scratch); }, project_);
  pack_panels(s_.dtype, a.recurrent, 3 * s_.units, 1, s_.units, 3 * s_.units, packed);
  with_float(s_.dtype, "gru", [&]<class S>(S) {
    using T = typename Loaded<S>::type;
    auto block = [&](int64_t c, int thread) noexcept {
      const int64_t begin = c * s_.block(), end = std::min(s_.batch, begin + s_.block());
      T* const local = reinterpret_cast<T*>(bytes_at(scratch, local_ + thread * local_bytes_));
      run_block(ForwardBlock<T, S>{s_, begin, end, as<S>(a.h0), as<S>(a.bias) + 3 * s_.units, as<T>(packed),
                                   as<S>(a.y), as<S>(a.h_last), as<T>(a.gates), as<T>(a.inner), local,
                                   local + s_.block() * s_.units * 3});
    };
    parallel_for(s_.blocks(), s_.step_threads(), block);
  });
}

GruBackward::GruBackward(const RnnSizes& sizes, bool wants_dx)
    : s_(sizes),
      for_kernel_(weight_gradient(sizes, 3, sizes.features)),
      for_recurrent_(weight_gradient(sizes, 3, sizes.units)),
      for_x_(input_gradient(sizes, 3)) {
  const auto size = static_cast<int64_t>(size_of(s_.dtype));
  packed_ = take_bytes(scratch_, packed_elements(s_.dtype, 3 * s_.units, s_.units) * size);
  dz_input_ = take_bytes(scratch_, s_.rows() * 3 * s_.units * size);
  dz_state_ = take_bytes(scratch_, s_.rows() * 3 * s_.units * size);
  before_ = take_bytes(scratch_, s_.rows() * s_.units * size);
  local_bytes_ = aligned(s_.block() * s_.units * 4 * size);
  local_ = take_bytes(scratch_, local_bytes_ * s_.threads);
  const int64_t most = std::max(for_kernel_.scratch_bytes(), for_recurrent_.scratch_bytes());
  gemm_ = take_bytes(scratch_, std::max(most, wants_dx ? for_x_.scratch_bytes() : 0));
}

void GruBackward::run(const Args& a, void* scratch) const {
  void* const packed = bytes_at(scratch, packed_);
  void* const dz_input = bytes_at(scratch, dz_input_);
  void* const dz_state = bytes_at(scratch, dz_state_);
  void* const before = bytes_at(scratch, before_);
  void* const gemm = bytes_at(scratch, gemm_);
  const int64_t width = 3 * s_.units;
  pack_panels(s_.dtype, a.recurrent, 1, width, width, s_.units, packed);
  const auto typed = [&]<class T>(T) {
    auto block = [&](int64_t c, int thread) noexcept {
      const int64_t begin = c * s_.block(), end = std::min(s_.batch, begin + s_.block());
      T* const local = reinterpret_cast<T*>(bytes_at(scratch, local_ + thread * local_bytes_));
      run_block(BackwardBlock<T>{s_, begin, end, as<T>(a.h0), as<T>(packed), as<T>(a.y), as<T>(a.gates),
                                 as<T>(a.inner), as<T>(a.dy), as<T>(a.dh_last), as<T>(a.dh0), as<T>(dz_input),
                                 as<T>(dz_state), as<T>(before), local, local + s_.block() * width});
    };
    parallel_for(s_.blocks(), s_.step_threads(), block);
  };
  s_.dtype == DType::f64 ? typed(double{}) : typed(float{});
  for_kernel_.run(a.x, dz_input, nullptr, a.dkernel, gemm);
  for_recurrent_.run(before, dz_state, nullptr, a.drecurrent, gemm);
  column_sums(s_.dtype, dz_input, s_.rows(), width, a.dbias, s_.threads);
  char* const state_bias = static_cast<char*>(a.dbias) + width * static_cast<int64_t>(size_of(s_.dtype));
  column_sums(s_.dtype, dz_state, s_.rows(), width, state_bias, s_.threads);
  if (a.dx != nullptr) for_x_.run(dz_input, a.kernel, nullptr, a.dx, gemm);
}

}  // namespace plimsoll
#endif  // HWY_ONCE

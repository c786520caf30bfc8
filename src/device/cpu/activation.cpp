#include "device/cpu/activation.h"

#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "device/cpu/activation.cpp"
#include "hwy/foreach_target.h"

#include "device/cpu/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The f32 rational form x P(x^2) / Q(x^2) on [-4, 4], beyond which erf rounds to 1: within 3 ulp.
template <class D>
requires(sizeof(hn::TFromD<D>) == 4) HWY_INLINE hn::Vec<D> vector_erf(D d, hn::Vec<D> v) {
  const auto four = hn::Set(d, 4.0f);
  auto x = hn::IfThenElse(hn::Gt(v, four), four, v);
  x = hn::IfThenElse(hn::Lt(x, hn::Neg(four)), hn::Neg(four), x);
  const auto x2 = hn::Mul(x, x);
  const auto step = [&](hn::Vec<D> sum, float c) HWY_ATTR { return hn::MulAdd(sum, x2, hn::Set(d, c)); };
  auto p = hn::Set(d, -2.72614225801306e-10f);
  p = step(p, 2.77068142495902e-08f);
  p = step(p, -2.10102402082508e-06f);
  p = step(p, -5.69250639462346e-05f);
  p = step(p, -7.34990630326855e-04f);
  p = step(p, -2.95459980854025e-03f);
  p = step(p, -1.60960333262415e-02f);
  auto q = hn::Set(d, -1.45660718464996e-05f);
  q = step(q, -2.13374055278905e-04f);
  q = step(q, -1.68282697438203e-03f);
  q = step(q, -7.37332916720468e-03f);
  q = step(q, -1.42647390514189e-02f);
  return hn::Div(hn::Mul(x, p), q);
}

template <class D>
requires(sizeof(hn::TFromD<D>) == 8) HWY_INLINE hn::Vec<D> vector_erf(D d, hn::Vec<D> v) {
  HWY_ALIGN double lanes[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(v, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = std::erf(lanes[i]);
  return hn::Load(d, lanes);
}

template <class D>
HWY_INLINE hn::Vec<D> half_plus(D d, hn::Vec<D> x, hn::Vec<D> s) {  // x (1 + s) / 2
  using T = hn::TFromD<D>;
  return hn::Mul(hn::Mul(x, hn::Set(d, T(0.5))), hn::Add(s, hn::Set(d, T(1))));
}

template <Activation kind, class D>
HWY_INLINE hn::Vec<D> activate(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  if constexpr (kind == Activation::relu)
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  else if constexpr (kind == Activation::sigmoid)
    return vm::sigmoid(d, x);
  else if constexpr (kind == Activation::tanh)
    return vm::tanh(d, x);
  else if constexpr (kind == Activation::silu)
    return hn::Mul(x, vm::sigmoid(d, x));
  else if constexpr (kind == Activation::gelu) {
    return half_plus(d, x, vector_erf(d, hn::Mul(x, hn::Set(d, T(0.70710678118654752)))));
  } else {
    const auto cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), x), hn::Set(d, T(0.044715)), x);
    return half_plus(d, x, vm::tanh(d, hn::Mul(cubic, hn::Set(d, T(0.79788456080286536)))));
  }
}

template <Activation kind, class T>
void apply(const void* const* in, void* out, size_t n, const double*) {
  const auto* x = static_cast<const T*>(in[0]);
  auto* y = static_cast<T*>(out);
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(activate<kind>(d, load(x, T(0))), y);
  });
}

template <Activation kind, class D>
HWY_INLINE hn::Vec<D> gelu_slope(D d, hn::Vec<D> x) {
  using T = hn::TFromD<D>;
  const auto half = hn::Set(d, T(0.5)), one = hn::Set(d, T(1)), x2 = hn::Mul(x, x);
  if constexpr (kind == Activation::gelu) {
    const auto density =
        hn::Mul(vm::exp_negative(d, hn::Mul(x2, hn::Set(d, T(-0.5)))), hn::Set(d, T(0.39894228040143268)));
    const auto share = vector_erf(d, hn::Mul(x, hn::Set(d, T(0.70710678118654752))));
    return hn::MulAdd(x, density, hn::MulAdd(share, half, half));
  } else {
    const auto scale = hn::Set(d, T(0.79788456080286536));
    const auto cubic = hn::MulAdd(hn::Mul(x2, x), hn::Set(d, T(0.044715)), x);
    const auto t = vm::tanh(d, hn::Mul(cubic, scale));
    const auto inner = hn::Mul(hn::MulAdd(x2, hn::Set(d, T(3 * 0.044715)), one), scale);
    const auto bend = hn::Mul(hn::Mul(hn::Mul(x, half), hn::NegMulAdd(t, t, one)), inner);
    return hn::MulAdd(t, half, hn::Add(half, bend));
  }
}

template <Activation kind, class T>
void apply_slope(const void* const* in, void* out, size_t n, const double*) {
  const auto* x = static_cast<const T*>(in[0]);
  const auto* dy = static_cast<const T*>(in[1]);
  auto* dx = static_cast<T*>(out);
  const hn::ScalableTag<T> d;
  vm::for_vectors(d, n, [&](size_t, const auto& load, const auto& store) HWY_ATTR {
    store(hn::Mul(load(dy, T(0)), gelu_slope<kind>(d, load(x, T(0)))), dx);
  });
}

template <class T>
constexpr std::array<ActivationFn, 7> kTable = {nullptr,
                                                apply<Activation::relu, T>,
                                                apply<Activation::sigmoid, T>,
                                                apply<Activation::tanh, T>,
                                                apply<Activation::gelu, T>,
                                                apply<Activation::gelu_tanh, T>,
                                                apply<Activation::silu, T>};

ActivationFn kernel_f32(Activation a) { return kTable<float>[static_cast<size_t>(a)]; }
ActivationFn kernel_f64(Activation a) { return kTable<double>[static_cast<size_t>(a)]; }

template <class T>
ActivationFn slope_kernel(Activation a) {
  return a == Activation::gelu ? apply_slope<Activation::gelu, T> : apply_slope<Activation::gelu_tanh, T>;
}
ActivationFn slope_f32(Activation a) { return slope_kernel<float>(a); }
ActivationFn slope_f64(Activation a) { return slope_kernel<double>(a); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plimsoll
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll {

HWY_EXPORT(kernel_f32);
HWY_EXPORT(kernel_f64);
HWY_EXPORT(slope_f32);
HWY_EXPORT(slope_f64);

ActivationFn activation_kernel(Activation activation, DType dtype) {
  return dtype == DType::f64 ? HWY_DYNAMIC_DISPATCH(kernel_f64)(activation)
                             : HWY_DYNAMIC_DISPATCH(kernel_f32)(activation);
}

ActivationFn gelu_gradient_kernel(Activation activation, DType dtype) {
  return dtype == DType::f64 ? HWY_DYNAMIC_DISPATCH(slope_f64)(activation)
                             : HWY_DYNAMIC_DISPATCH(slope_f32)(activation);
}

std::optional<Activation> activation_from_name(std::string_view name) {
  constexpr std::string_view kNames[] = {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Activation>(i);
  }
  return std::nullopt;
}

}  // namespace plimsoll
#endif

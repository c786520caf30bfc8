// Element-wise functions of one tensor. Results have the type of the input (isfinite and logical_not: bool);
// the public functions bring integers to float32 where a function needs floats.
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/unary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <type_traits>

#include "device/cpu/simd_loops-inl.h"
#include "device/cpu/simd_math-inl.h"
#include "graph/op.h"
// clang-format off: after foreach_target.h
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#ifndef PLIMSOLL_UNARY_ROWS
#define PLIMSOLL_UNARY_ROWS
namespace plimsoll {
// clang-format off
enum class Unary {
  negative, absolute, sign, floor, ceil, round, square, reciprocal, exp, expm1, log, log1p, sqrt, rsqrt, cbrt,
  sin, cos, tan, arcsin, arccos, arctan, sinh, cosh, tanh, arcsinh, arccosh, arctanh, sigmoid, erf, erfc,
  erfinv, relu, isfinite, logical_not, bitwise_not,
};
// clang-format on
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using simd::K;

#define PLIMSOLL_VEC(Name, ...)                          \
  struct Name {                                          \
    template <class D, class V>                          \
    static HWY_INLINE V vec([[maybe_unused]] D d, V x) { \
      __VA_ARGS__                                        \
    }                                                    \
  };
#define PLIMSOLL_ONE(Name, ...)       \
  struct Name {                       \
    template <class T>                \
    static HWY_INLINE auto one(T x) { \
      __VA_ARGS__                     \
    }                                 \
  };

PLIMSOLL_VEC(Negative, return hn::Neg(x);)
PLIMSOLL_VEC(Absolute, return hn::Abs(x);)
PLIMSOLL_VEC(Sign, const auto one = hn::CopySign(K(d, 1), x);
             return simd::KeepNaN<D>(x, hn::IfThenElseZero(hn::Ne(x, hn::Zero(d)), one));)
PLIMSOLL_VEC(Floor, return hn::Floor(x);)
PLIMSOLL_VEC(Ceil, return hn::Ceil(x);)
PLIMSOLL_VEC(Round, return hn::Round(x);)
PLIMSOLL_VEC(Square, return hn::Mul(x, x);)
PLIMSOLL_VEC(Reciprocal, return hn::Div(K(d, 1), x);)
PLIMSOLL_VEC(Exp, return simd::Exp(d, x);)
PLIMSOLL_VEC(Expm1, return simd::Expm1(d, x);)
PLIMSOLL_VEC(Log, return simd::Log(d, x);)
PLIMSOLL_VEC(Log1p, return simd::Log1p(d, x);)
PLIMSOLL_VEC(Sqrt, return hn::Sqrt(x);)
PLIMSOLL_VEC(Rsqrt, return hn::Div(K(d, 1), hn::Sqrt(x));)
PLIMSOLL_VEC(Tanh, return simd::Tanh(d, x);)
PLIMSOLL_VEC(Sigmoid, return simd::Sigmoid(d, x);)
PLIMSOLL_VEC(Relu, return simd::KeepNaN<D>(x, hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x));)
PLIMSOLL_VEC(Sinh, const auto a = hn::Abs(x); const auto e = simd::Expm1(d, a);
             const auto y = hn::Mul(K(d, 0.5), hn::Add(e, hn::Div(e, hn::Add(e, K(d, 1)))));
             // e^a overflows before sinh does; both halves of e^(a/2) do not.
             const auto h = simd::Exp(d, hn::Mul(K(d, 0.5), a));
             const auto far = hn::Gt(a, K(d, sizeof(hn::TFromD<D>) == 4 ? 40.0 : 300.0));
             return hn::CopySign(hn::IfThenElse(far, hn::Mul(hn::Mul(K(d, 0.5), h), h), y), x);)
PLIMSOLL_VEC(Cosh, const auto h = simd::Exp(d, hn::Mul(K(d, 0.5), hn::Abs(x)));
             return hn::Add(hn::Mul(hn::Mul(K(d, 0.5), h), h), hn::Div(hn::Div(K(d, 0.5), h), h));)
PLIMSOLL_VEC(Arcsinh, const auto a = hn::Abs(x); const auto s = hn::Mul(a, a);
             const auto near = simd::Log1p(d, hn::Add(a, hn::Div(s, hn::Add(K(d, 1),
                                                                            hn::Sqrt(hn::Add(s, K(d, 1)))))));
             const auto far = hn::Add(simd::Log(d, a), K(d, 0.69314718055994531));
             const auto big = hn::Gt(a, K(d, 1e150));
             return simd::KeepNaN<D>(x, hn::CopySign(hn::IfThenElse(big, far, near), x));)
PLIMSOLL_VEC(Arccosh, const auto t = hn::Sub(x, K(d, 1));
             const auto near = simd::Log1p(d, hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Add(t, t)))));
             const auto far = hn::Add(simd::Log(d, x), K(d, 0.69314718055994531));
             const auto y = hn::IfThenElse(hn::Gt(x, K(d, 1e150)), far, near);
             return hn::IfThenElse(hn::Lt(x, K(d, 1)), hn::NaN(d), y);)
PLIMSOLL_VEC(Arctanh, const auto a = hn::Abs(x);
             const auto y = simd::Log1p(d, hn::Div(hn::Add(a, a), hn::Sub(K(d, 1), a)));
             return simd::KeepNaN<D>(x, hn::CopySign(hn::Mul(K(d, 0.5), y), x));)

// Outside the range of the vector form, the C library takes the whole vector.
template <class D, class V, class F>
HWY_NOINLINE V Lanewise(D d, V x, F f) {
  HWY_ALIGN hn::TFromD<D> lanes[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}
template <class D, class V>
HWY_INLINE bool TrigNear(D d, V x) {
  return hn::AllTrue(d, hn::Lt(hn::Abs(x), K(d, simd::kTrigLimit)));
}
PLIMSOLL_VEC(Sin, if (!TrigNear(d, x)) return Lanewise(d, x, [](double v) { return std::sin(v); });
             return simd::SinCos(d, x, 0);)
PLIMSOLL_VEC(Cos, if (!TrigNear(d, x)) return Lanewise(d, x, [](double v) { return std::cos(v); });
             return simd::SinCos(d, x, 1);)
PLIMSOLL_VEC(Tan, if (!TrigNear(d, x)) return Lanewise(d, x, [](double v) { return std::tan(v); });
             return hn::Div(simd::SinCos(d, x, 0), simd::SinCos(d, x, 1));)
// Highway's are good to 3 ulp on [-1, 1].
PLIMSOLL_VEC(Arcsin, return hn::IfThenElse(hn::Le(hn::Abs(x), K(d, 1)), hn::Asin(d, x), hn::NaN(d));)
PLIMSOLL_VEC(Arccos, return hn::IfThenElse(hn::Le(hn::Abs(x), K(d, 1)), hn::Acos(d, x), hn::NaN(d));)
PLIMSOLL_VEC(Arctan, return simd::KeepNaN<D>(x, hn::Atan(d, x));)

// f32: x P(x^2) below 1, and 1 - e^Q(|x|) above; minimax fits of this project, 3e-8 relative.
PLIMSOLL_VEC(Erf32, const auto a = hn::Min(hn::Abs(x), K(d, 4.1));
             const auto near = hn::Mul(x, simd::Poly(d, hn::Mul(x, x),
                                                     {1.1283791657267073, -0.3761262582421868,
                                                      0.11283585148453745, -0.026853811928618243,
                                                      0.005188327673053869, -0.0008010193513731528,
                                                      7.853860984587124e-05}));
             const auto log = simd::Poly(d, a,
                                         {0.0001824594197121537, -1.1295520376576835, -0.6332724214419454,
                                          -0.10836154375940155, 0.025171803008606775, -0.0041908535499732835,
                                          0.00043852947191036495, -2.144552489802276e-05});
             const auto far = hn::CopySign(hn::Sub(K(d, 1), simd::Exp(d, log)), x);
             return simd::KeepNaN<D>(x, hn::IfThenElse(hn::Lt(a, K(d, 1)), near, far));)

// Where denormals count as zero, the C library's cube root of one is anything.
PLIMSOLL_ONE(Cbrt, return x == 0 ? x : std::cbrt(x);)
PLIMSOLL_ONE(Erf, return std::erf(x);)
PLIMSOLL_ONE(Erfc, return std::erfc(x);)

// Winitzki's formula, then Halley's method on erf (or erfc near the ends, where 1 - y is exact).
inline double InverseErf(double y) {
  if (!(std::fabs(y) < 1)) return y == 1 ? INFINITY : y == -1 ? -INFINITY : NAN;
  if (y == 0) return y;
  const double l = std::log1p(-y * y), t = 4.3307467508 + 0.5 * l;  // 2 / (pi 0.147)
  double x = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), y);
  for (int i = 0; i < 3; ++i) {
    const double tail = (1 - std::fabs(y)) - std::erfc(std::fabs(x));
    const double error = std::fabs(y) < 0.5 ? std::erf(x) - y : y < 0 ? -tail : tail;
    const double step = error / (1.1283791670955126 * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}
PLIMSOLL_ONE(Erfinv, return static_cast<T>(InverseErf(x));)

PLIMSOLL_ONE(IntNegative, return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));)
PLIMSOLL_ONE(IntAbsolute, if constexpr (std::is_signed_v<T>) return x < 0 ? IntNegative::one(x) : x;
             else return x;)
PLIMSOLL_ONE(IntSign, return static_cast<T>((x > 0) - (x < T(0)));)
PLIMSOLL_ONE(Same, return x;)
PLIMSOLL_ONE(IntSquare, return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));)
PLIMSOLL_ONE(IntRelu, return x > T(0) ? x : T(0);)
PLIMSOLL_ONE(BitNot, return static_cast<T>(~x);)
PLIMSOLL_ONE(Flip, return x ^ 1;)
PLIMSOLL_ONE(Finite, return x - x == T(0);)
PLIMSOLL_ONE(True, (void)x; return true;)

template <class Op>
TileFn ForFloats(DType t) {
  return t == DType::f64 ? simd::Map1<Op, double> : simd::Map1<Op, float>;
}
template <class Op>  // f32 through f64
TileFn ForFloatsWide(DType t) {
  return t == DType::f64 ? TileFn(simd::Map1<Op, double>) : TileFn(simd::Map1Wide<Op>);
}
template <class Op>
TileFn ForFloatsOne(DType t) {
  return t == DType::f64 ? simd::Each1<Op, double> : simd::Each1<Op, float>;
}

template <class Op>
TileFn ForIntegers(DType t) {
  switch (t) {
    case DType::u8: return simd::Each1<Op, uint8_t>;
    case DType::u16: return simd::Each1<Op, uint16_t>;
    case DType::u32: return simd::Each1<Op, uint32_t>;
    case DType::u64: return simd::Each1<Op, uint64_t>;
    case DType::i8: return simd::Each1<Op, int8_t>;
    case DType::i16: return simd::Each1<Op, int16_t>;
    case DType::i32: return simd::Each1<Op, int32_t>;
    case DType::i64: return simd::Each1<Op, int64_t>;
    default: return nullptr;
  }
}
template <class Op, class IntOp>
TileFn ForNumbers(DType t) {
  return is_float(t) ? ForFloats<Op>(t) : ForIntegers<IntOp>(t);
}

TileFn FiniteOf(DType t) {
  if (t == DType::f64) return simd::Each1<Finite, double, uint8_t>;
  if (is_float(t)) return simd::Each1<Finite, float, uint8_t>;
  switch (size_of(t)) {
    case 1: return simd::Each1<True, uint8_t, uint8_t>;
    case 2: return simd::Each1<True, uint16_t, uint8_t>;
    case 4: return simd::Each1<True, uint32_t, uint8_t>;
    default: return simd::Each1<True, uint64_t, uint8_t>;
  }
}
}  // namespace

TileFn FindUnary(Unary which, DType t) {
  switch (which) {
    case Unary::negative: return ForNumbers<Negative, IntNegative>(t);
    case Unary::absolute: return ForNumbers<Absolute, IntAbsolute>(t);
    case Unary::sign: return ForNumbers<Sign, IntSign>(t);
    case Unary::floor: return ForNumbers<Floor, Same>(t);
    case Unary::ceil: return ForNumbers<Ceil, Same>(t);
    case Unary::round: return ForNumbers<Round, Same>(t);
    case Unary::square: return ForNumbers<Square, IntSquare>(t);
    case Unary::relu: return ForNumbers<Relu, IntRelu>(t);
    case Unary::reciprocal: return ForFloats<Reciprocal>(t);
    case Unary::exp: return ForFloats<Exp>(t);
    case Unary::expm1: return ForFloats<Expm1>(t);
    case Unary::log: return ForFloats<Log>(t);
    case Unary::log1p: return ForFloats<Log1p>(t);
    case Unary::sqrt: return ForFloats<Sqrt>(t);
    case Unary::rsqrt: return ForFloats<Rsqrt>(t);
    case Unary::cbrt: return ForFloatsOne<Cbrt>(t);
    case Unary::sin: return ForFloatsWide<Sin>(t);
    case Unary::cos: return ForFloatsWide<Cos>(t);
    case Unary::tan: return ForFloatsWide<Tan>(t);
    case Unary::arcsin: return ForFloats<Arcsin>(t);
    case Unary::arccos: return ForFloats<Arccos>(t);
    case Unary::arctan: return ForFloats<Arctan>(t);
    case Unary::sinh: return ForFloats<Sinh>(t);
    case Unary::cosh: return ForFloats<Cosh>(t);
    case Unary::tanh: return ForFloats<Tanh>(t);
    case Unary::arcsinh: return ForFloatsWide<Arcsinh>(t);
    case Unary::arccosh: return ForFloatsWide<Arccosh>(t);
    case Unary::arctanh: return ForFloatsWide<Arctanh>(t);
    case Unary::sigmoid: return ForFloats<Sigmoid>(t);
    case Unary::erf:
      return t == DType::f64 ? TileFn(simd::Each1<Erf, double>) : TileFn(simd::Map1<Erf32, float>);
    case Unary::erfc: return ForFloatsOne<Erfc>(t);
    case Unary::erfinv: return ForFloatsOne<Erfinv>(t);
    case Unary::isfinite: return FiniteOf(t);
    case Unary::logical_not: return simd::Each1<Flip, uint8_t>;
    case Unary::bitwise_not:
      return t == DType::boolean ? TileFn(simd::Each1<Flip, uint8_t>) : ForIntegers<BitNot>(t);
  }
  return nullptr;
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindUnary);
namespace {

constexpr std::array kBools = {DType::boolean};
constexpr std::array kBits = {DType::boolean, DType::u8,  DType::u16, DType::u32, DType::u64,
                              DType::i8,      DType::i16, DType::i32, DType::i64};

// What the functions above compute, in the language of docs/element_language.md.
std::string_view float_meaning(Unary which) {
  switch (which) {
    case Unary::negative: return "-a";
    case Unary::absolute: return "abs(a)";
    case Unary::sign: return "isnan(a) ? a : a > 0 ? 1 : a < 0 ? -1 : 0";
    case Unary::floor: return "floor(a)";
    case Unary::ceil: return "ceil(a)";
    case Unary::round: return "rint(a)";
    case Unary::square: return "a * a";
    case Unary::reciprocal: return "1 / a";
    case Unary::exp: return "exp(a)";
    case Unary::expm1: return "expm1(a)";
    case Unary::log: return "log(a)";
    case Unary::log1p: return "log1p(a)";
    case Unary::sqrt: return "sqrt(a)";
    case Unary::rsqrt: return "1 / sqrt(a)";
    case Unary::cbrt: return "cbrt(a)";
    case Unary::sin: return "sin(a)";
    case Unary::cos: return "cos(a)";
    case Unary::tan: return "tan(a)";
    case Unary::arcsin: return "asin(a)";
    case Unary::arccos: return "acos(a)";
    case Unary::arctan: return "atan(a)";
    case Unary::sinh: return "sinh(a)";
    case Unary::cosh: return "cosh(a)";
    case Unary::tanh: return "tanh(a)";
    case Unary::arcsinh: return "asinh(a)";
    case Unary::arccosh: return "acosh(a)";
    case Unary::arctanh: return "atanh(a)";
    case Unary::sigmoid: return "1 / (1 + exp(-a))";
    case Unary::erf: return "erf(a)";
    case Unary::erfc: return "erfc(a)";
    case Unary::erfinv: return "erfinv(a)";
    case Unary::relu: return "isnan(a) || a > 0 ? a : 0";
    case Unary::isfinite: return "a - a == 0";
    default: return {};  // of integers and bools only
  }
}

std::string_view integer_meaning(Unary which) {
  switch (which) {
    case Unary::negative: return "sub(0, a)";
    case Unary::absolute: return "a < 0 ? sub(0, a) : a";
    case Unary::sign: return "a > 0 ? 1 : a < 0 ? -1 : 0";
    case Unary::floor:
    case Unary::ceil:
    case Unary::round: return "a";
    case Unary::square: return "mul(a, a)";
    case Unary::relu: return "a > 0 ? a : 0";
    case Unary::isfinite: return "1";
    case Unary::bitwise_not: return "~a";
    default: return {};  // of floats and bools only
  }
}

std::string_view meaning(Unary which, DType t) {
  if (t == DType::boolean) return which == Unary::isfinite ? "1" : "!a";
  return is_float(t) ? float_meaning(which) : integer_meaning(which);
}

template <Unary U>
Tile tile_of(std::span<const TensorType> in, const TensorType&, const Attrs&) {
  return {HWY_DYNAMIC_DISPATCH(FindUnary)(U, in[0].dtype), {}, meaning(U, in[0].dtype)};
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, call.op.dtypes);
  return {call.in[0]};
}
std::vector<TensorType> infer_bool(const OpCall& call) {
  require_dtype(call, 0, call.op.dtypes);
  return {{DType::boolean, call.in[0].shape}};
}

// `kLow` to `kHigh` per mille: where the function is defined and smooth.
template <int kLow, int kHigh, bool kSmooth = true>
std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& shape : odd_shapes()) list.push_back({{{shape, kLow * 1e-3, kHigh * 1e-3}}, {}, kSmooth});
  return list;
}

#define PLIMSOLL_GRAD(name, ...)                    \
  void grad_##name(GradContext& g) {                \
    [[maybe_unused]] const Tensor& x = g.in(0);     \
    [[maybe_unused]] const Tensor& y = g.out();     \
    const Tensor& dy = g.dout();                    \
    if (is_float(x.dtype())) g.set(0, __VA_ARGS__); \
  }
PLIMSOLL_GRAD(negative, -dy)
PLIMSOLL_GRAD(absolute, dy* sign(x))
PLIMSOLL_GRAD(square, dy*(x * 2.0))
PLIMSOLL_GRAD(reciprocal, -(dy* square(y)))
PLIMSOLL_GRAD(exp, dy* y)
PLIMSOLL_GRAD(expm1, dy*(y + 1.0))
PLIMSOLL_GRAD(log, dy / x)
PLIMSOLL_GRAD(log1p, dy / (x + 1.0))
PLIMSOLL_GRAD(sqrt, dy * 0.5 / y)
PLIMSOLL_GRAD(rsqrt, dy * -0.5 * y / x)
PLIMSOLL_GRAD(cbrt, dy / (square(y) * 3.0))
PLIMSOLL_GRAD(sin, dy* cos(x))
PLIMSOLL_GRAD(cos, -(dy* sin(x)))
PLIMSOLL_GRAD(tan, dy*(square(y) + 1.0))
PLIMSOLL_GRAD(arcsin, dy* rsqrt(1.0 - square(x)))
PLIMSOLL_GRAD(arccos, -(dy* rsqrt(1.0 - square(x))))
PLIMSOLL_GRAD(arctan, dy / (square(x) + 1.0))
PLIMSOLL_GRAD(sinh, dy* cosh(x))
PLIMSOLL_GRAD(cosh, dy* sinh(x))
PLIMSOLL_GRAD(tanh, dy*(1.0 - square(y)))
PLIMSOLL_GRAD(arcsinh, dy* rsqrt(square(x) + 1.0))
PLIMSOLL_GRAD(arccosh, dy* rsqrt(square(x) - 1.0))
PLIMSOLL_GRAD(arctanh, dy / (1.0 - square(x)))
PLIMSOLL_GRAD(sigmoid, dy*(y*(1.0 - y)))
PLIMSOLL_GRAD(erf, dy*(exp(-square(x)) * 1.1283791670955126))
PLIMSOLL_GRAD(erfc, dy*(exp(-square(x)) * -1.1283791670955126))
PLIMSOLL_GRAD(erfinv, dy*(exp(square(y)) * 0.88622692545275801))
PLIMSOLL_GRAD(relu, where(greater(x, scalar_like(x, 0)), dy, scalar_like(dy, 0)))

#define PLIMSOLL_ROW(fn, grad_fn, type_list, case_list)                                           \
  OpDef {                                                                                         \
    .name = #fn, .infer = infer, .grad = grad_fn, .tile = tile_of<Unary::fn>, .cases = case_list, \
    .dtypes = type_list                                                                           \
  }

constexpr OpDef kDefs[] = {
    PLIMSOLL_ROW(negative, grad_negative, kNumbers, (cases<-2000, 2000>)),
    PLIMSOLL_ROW(absolute, grad_absolute, kNumbers, (cases<-2000, 2000>)),
    PLIMSOLL_ROW(sign, nullptr, kNumbers, (cases<-2000, 2000, false>)),
    PLIMSOLL_ROW(floor, nullptr, kNumbers, (cases<-9000, 9000, false>)),
    PLIMSOLL_ROW(ceil, nullptr, kNumbers, (cases<-9000, 9000, false>)),
    PLIMSOLL_ROW(round, nullptr, kNumbers, (cases<-9000, 9000, false>)),
    PLIMSOLL_ROW(square, grad_square, kNumbers, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(reciprocal, grad_reciprocal, kFloats, (cases<300, 3000>)),
    PLIMSOLL_ROW(exp, grad_exp, kFloats, (cases<-5000, 5000>)),
    PLIMSOLL_ROW(expm1, grad_expm1, kFloats, (cases<-2000, 2000>)),
    PLIMSOLL_ROW(log, grad_log, kFloats, (cases<100, 9000>)),
    PLIMSOLL_ROW(log1p, grad_log1p, kFloats, (cases<-800, 5000>)),
    PLIMSOLL_ROW(sqrt, grad_sqrt, kFloats, (cases<100, 9000>)),
    PLIMSOLL_ROW(rsqrt, grad_rsqrt, kFloats, (cases<100, 9000>)),
    PLIMSOLL_ROW(cbrt, grad_cbrt, kFloats, (cases<200, 9000>)),
    PLIMSOLL_ROW(sin, grad_sin, kFloats, (cases<-9000, 9000>)),
    PLIMSOLL_ROW(cos, grad_cos, kFloats, (cases<-9000, 9000>)),
    PLIMSOLL_ROW(tan, grad_tan, kFloats, (cases<-1200, 1200>)),
    PLIMSOLL_ROW(arcsin, grad_arcsin, kFloats, (cases<-900, 900>)),
    PLIMSOLL_ROW(arccos, grad_arccos, kFloats, (cases<-900, 900>)),
    PLIMSOLL_ROW(arctan, grad_arctan, kFloats, (cases<-5000, 5000>)),
    PLIMSOLL_ROW(sinh, grad_sinh, kFloats, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(cosh, grad_cosh, kFloats, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(tanh, grad_tanh, kFloats, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(arcsinh, grad_arcsinh, kFloats, (cases<-5000, 5000>)),
    PLIMSOLL_ROW(arccosh, grad_arccosh, kFloats, (cases<1200, 9000>)),
    PLIMSOLL_ROW(arctanh, grad_arctanh, kFloats, (cases<-900, 900>)),
    PLIMSOLL_ROW(sigmoid, grad_sigmoid, kFloats, (cases<-9000, 9000>)),
    PLIMSOLL_ROW(erf, grad_erf, kFloats, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(erfc, grad_erfc, kFloats, (cases<-3000, 3000>)),
    PLIMSOLL_ROW(erfinv, grad_erfinv, kFloats, (cases<-900, 900>)),
    PLIMSOLL_ROW(relu, grad_relu, kNumbers, (cases<-2000, 2000>)),
    PLIMSOLL_ROW(bitwise_not, nullptr, kBits, (cases<-9000, 9000, false>)),
    {.name = "isfinite",
     .infer = infer_bool,
     .tile = tile_of<Unary::isfinite>,
     .cases = cases<-2000, 2000, false>,
     .dtypes = kAllReal},
    {.name = "logical_not",
     .infer = infer,
     .tile = tile_of<Unary::logical_not>,
     .cases = cases<0, 1000, false>,
     .dtypes = kBools},
};

Tensor unary(std::string_view name, const Tensor& x) {
  return is_complex(x.dtype()) ? complex_unary(name, x) : apply1(get_op(name), {x});
}

}  // namespace

std::span<const OpDef> ops_unary() { return kDefs; }

#define PLIMSOLL_PUBLIC(name) \
  Tensor name(const Tensor& x) { return unary(#name, x); }
#define PLIMSOLL_PUBLIC_FLOAT(name) \
  Tensor name(const Tensor& x) { return unary(#name, to_float(x)); }
PLIMSOLL_PUBLIC(negative)
PLIMSOLL_PUBLIC(absolute)
PLIMSOLL_PUBLIC(sign)
PLIMSOLL_PUBLIC(floor)
PLIMSOLL_PUBLIC(ceil)
PLIMSOLL_PUBLIC(round)
PLIMSOLL_PUBLIC(square)
PLIMSOLL_PUBLIC(relu)
PLIMSOLL_PUBLIC(isfinite)
PLIMSOLL_PUBLIC(bitwise_not)
PLIMSOLL_PUBLIC_FLOAT(reciprocal)
PLIMSOLL_PUBLIC_FLOAT(exp)
PLIMSOLL_PUBLIC_FLOAT(expm1)
PLIMSOLL_PUBLIC_FLOAT(log)
PLIMSOLL_PUBLIC_FLOAT(log1p)
PLIMSOLL_PUBLIC_FLOAT(sqrt)
PLIMSOLL_PUBLIC_FLOAT(rsqrt)
PLIMSOLL_PUBLIC_FLOAT(cbrt)
PLIMSOLL_PUBLIC_FLOAT(sin)
PLIMSOLL_PUBLIC_FLOAT(cos)
PLIMSOLL_PUBLIC_FLOAT(tan)
PLIMSOLL_PUBLIC_FLOAT(arcsin)
PLIMSOLL_PUBLIC_FLOAT(arccos)
PLIMSOLL_PUBLIC_FLOAT(arctan)
PLIMSOLL_PUBLIC_FLOAT(sinh)
PLIMSOLL_PUBLIC_FLOAT(cosh)
PLIMSOLL_PUBLIC_FLOAT(tanh)
PLIMSOLL_PUBLIC_FLOAT(arcsinh)
PLIMSOLL_PUBLIC_FLOAT(arccosh)
PLIMSOLL_PUBLIC_FLOAT(arctanh)
PLIMSOLL_PUBLIC_FLOAT(sigmoid)
PLIMSOLL_PUBLIC_FLOAT(erf)
PLIMSOLL_PUBLIC_FLOAT(erfc)
PLIMSOLL_PUBLIC_FLOAT(erfinv)
Tensor logical_not(const Tensor& x) { return unary("logical_not", cast(x, DType::boolean)); }

}  // namespace plimsoll
#endif

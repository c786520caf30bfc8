// Element-wise functions of two tensors of one dtype, broadcast as NumPy does. Integers wrap. As in NumPy,
// an integer divided by zero is 0, and so is the remainder; INT_MIN / -1 is INT_MIN.
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/binary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "device/cpu/simd_loops-inl.h"
#include "device/cpu/simd_math-inl.h"
#include "graph/op.h"

#ifndef PLIMSOLL_BINARY_ROWS
#define PLIMSOLL_BINARY_ROWS
namespace plimsoll {
// clang-format off
enum class Binary {
  add, subtract, multiply, divide, floor_divide, mod, power, maximum, minimum, arctan2, bitwise_and,
  bitwise_or, bitwise_xor, left_shift, right_shift, rem,
};
// clang-format on
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using simd::K;

#define PLIMSOLL_VEC(Name, ...)                               \
  struct Name {                                               \
    template <class D, class V>                               \
    static HWY_INLINE V vec([[maybe_unused]] D d, V a, V b) { \
      __VA_ARGS__                                             \
    }                                                         \
  };
#define PLIMSOLL_ONE(Name, ...)            \
  struct Name {                            \
    template <class T>                     \
    static HWY_INLINE auto one(T a, T b) { \
      __VA_ARGS__                          \
    }                                      \
  };

PLIMSOLL_VEC(Add, return hn::Add(a, b);)
PLIMSOLL_VEC(Subtract, return hn::Sub(a, b);)
PLIMSOLL_VEC(Multiply, return hn::Mul(a, b);)
PLIMSOLL_VEC(Divide, return hn::Div(a, b);)
PLIMSOLL_VEC(Maximum, return simd::KeepNaN<D>(a, simd::KeepNaN<D>(b, hn::Max(a, b)));)
PLIMSOLL_VEC(Minimum, return simd::KeepNaN<D>(a, simd::KeepNaN<D>(b, hn::Min(a, b)));)

// f64 only (f32 comes widened). Signs, zeros and infinities are left to the C library.
PLIMSOLL_VEC(Power, const auto inf = K(d, std::numeric_limits<double>::infinity());
             const auto plain = hn::And(hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, inf)),
                                        hn::Lt(hn::Abs(b), inf));
             if (hn::AllTrue(d, plain)) return simd::Exp(d, hn::Mul(b, simd::Log(d, a)));
             HWY_ALIGN double x[HWY_MAX_BYTES / sizeof(double)];
             HWY_ALIGN double y[HWY_MAX_BYTES / sizeof(double)]; hn::Store(a, d, x); hn::Store(b, d, y);
             for (size_t i = 0; i < hn::Lanes(d); ++i) x[i] = std::pow(x[i], y[i]); return hn::Load(d, x);)
PLIMSOLL_ONE(PowerOne, return std::pow(a, b);)
PLIMSOLL_ONE(Arctan2, return std::atan2(a, b);)

// Python's: the remainder has the sign of the divisor, the quotient is what goes with it.
PLIMSOLL_ONE(Mod, const T r = std::fmod(a, b); if (r == 0) return std::copysign(r, b);
             return (r < 0) != (b < 0) ? r + b : r;)
PLIMSOLL_ONE(Rem, return std::fmod(a, b);)
PLIMSOLL_ONE(FloorDivide, if (b == 0) return a / b; T r = std::fmod(a, b); T q = (a - r) / b;
             if (r != 0 && (r < 0) != (b < 0)) q -= 1; if (q == 0) return std::copysign(T(0), a / b);
             const T f = std::floor(q); return q - f > T(0.5) ? f + 1 : f;)

template <class T>
using U = std::make_unsigned_t<T>;
template <class T>
inline constexpr int kBits = 8 * sizeof(T);
PLIMSOLL_ONE(IntAdd, return static_cast<T>(static_cast<U<T>>(a) + static_cast<U<T>>(b));)
PLIMSOLL_ONE(IntSubtract, return static_cast<T>(static_cast<U<T>>(a) - static_cast<U<T>>(b));)
PLIMSOLL_ONE(IntMultiply, return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));)
PLIMSOLL_ONE(IntMaximum, return a > b ? a : b;)
PLIMSOLL_ONE(IntMinimum, return a < b ? a : b;)
PLIMSOLL_ONE(
    IntFloorDivide, if (b == 0) return T(0); if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return IntSubtract::one(T(0), a);
      return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
    } else return static_cast<T>(a / b);)
PLIMSOLL_ONE(
    IntMod, if (b == 0) return T(0); if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else return static_cast<T>(a % b);)
PLIMSOLL_ONE(
    IntRem, if (b == 0) return T(0); if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
    } return static_cast<T>(a % b);)
// A negative exponent gives the reciprocal rounded toward 0: only 1 and -1 have one.
PLIMSOLL_ONE(
    IntPower, T result = 1; if constexpr (std::is_signed_v<T>) {
      if (b < 0) return static_cast<T>(a == 1 ? 1 : a == T(-1) ? (b & 1 ? -1 : 1) : 0);
    } for (U<T> e = static_cast<U<T>>(b); e; e = static_cast<U<T>>(e >> 1)) {
      if (e & 1) result = IntMultiply::one(result, a);
      a = IntMultiply::one(a, a);
    } return result;)
PLIMSOLL_ONE(BitAnd, return static_cast<T>(a & b);)
PLIMSOLL_ONE(BitOr, return static_cast<T>(a | b);)
PLIMSOLL_ONE(BitXor, return static_cast<T>(a ^ b);)
// Shifts by the width or more (or less than 0) push all bits out.
PLIMSOLL_ONE(LeftShift, return static_cast<U<T>>(b) >= kBits<T>
                                   ? T(0)
                                   : static_cast<T>(static_cast<uint64_t>(a) << static_cast<U<T>>(b));)
PLIMSOLL_ONE(RightShift, return static_cast<U<T>>(b) >= kBits<T> ? static_cast<T>(a < T(0) ? -1 : 0)
                                                                 : static_cast<T>(a >> b);)

template <class Op>
TileFn ForFloats(DType t) {
  return t == DType::f64 ? simd::Map2<Op, double> : simd::Map2<Op, float>;
}
template <class Op>
TileFn ForFloatsOne(DType t) {
  return t == DType::f64 ? simd::Each2<Op, double> : simd::Each2<Op, float>;
}
template <class Op>
TileFn ForIntegers(DType t) {
  switch (t) {
    case DType::u8: return simd::Each2<Op, uint8_t>;
    case DType::u16: return simd::Each2<Op, uint16_t>;
    case DType::u32: return simd::Each2<Op, uint32_t>;
    case DType::u64: return simd::Each2<Op, uint64_t>;
    case DType::i8: return simd::Each2<Op, int8_t>;
    case DType::i16: return simd::Each2<Op, int16_t>;
    case DType::i32: return simd::Each2<Op, int32_t>;
    case DType::i64: return simd::Each2<Op, int64_t>;
    default: return nullptr;
  }
}
template <class Op, class IntOp, class BoolOp>
TileFn ForAll(DType t) {
  if (t == DType::boolean) return simd::Each2<BoolOp, uint8_t>;
  return is_float(t) ? ForFloats<Op>(t) : ForIntegers<IntOp>(t);
}
template <class Op>
TileFn ForBits(DType t) {
  return t == DType::boolean ? TileFn(simd::Each2<Op, uint8_t>) : ForIntegers<Op>(t);
}
}  // namespace

TileFn FindBinary(Binary which, DType t) {
  switch (which) {
    case Binary::add: return ForAll<Add, IntAdd, BitOr>(t);
    case Binary::subtract: return is_float(t) ? ForFloats<Subtract>(t) : ForIntegers<IntSubtract>(t);
    case Binary::multiply: return ForAll<Multiply, IntMultiply, BitAnd>(t);
    case Binary::divide: return ForFloats<Divide>(t);
    case Binary::floor_divide:
      return is_float(t) ? ForFloatsOne<FloorDivide>(t) : ForIntegers<IntFloorDivide>(t);
    case Binary::mod: return is_float(t) ? ForFloatsOne<Mod>(t) : ForIntegers<IntMod>(t);
    case Binary::rem: return is_float(t) ? ForFloatsOne<Rem>(t) : ForIntegers<IntRem>(t);
    case Binary::power:
      if (!is_float(t)) return ForIntegers<IntPower>(t);
      return t == DType::f64 ? TileFn(simd::Each2<PowerOne, double>) : TileFn(simd::Map2Wide<Power>);
    case Binary::maximum: return ForAll<Maximum, IntMaximum, BitOr>(t);
    case Binary::minimum: return ForAll<Minimum, IntMinimum, BitAnd>(t);
    case Binary::arctan2: return ForFloatsOne<Arctan2>(t);
    case Binary::bitwise_and: return ForBits<BitAnd>(t);
    case Binary::bitwise_or: return ForBits<BitOr>(t);
    case Binary::bitwise_xor: return ForBits<BitXor>(t);
    case Binary::left_shift: return ForIntegers<LeftShift>(t);
    case Binary::right_shift: return ForIntegers<RightShift>(t);
  }
  return nullptr;
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindBinary);
namespace {

constexpr std::array kIntegers = {DType::u8, DType::u16, DType::u32, DType::u64,
                                  DType::i8, DType::i16, DType::i32, DType::i64};
constexpr std::array kBits = {DType::boolean, DType::u8,  DType::u16, DType::u32, DType::u64,
                              DType::i8,      DType::i16, DType::i32, DType::i64};

// What the functions above compute, in the language of docs/element_language.md.
std::string_view float_meaning(Binary which) {
  switch (which) {
    case Binary::add: return "a + b";
    case Binary::subtract: return "a - b";
    case Binary::multiply: return "a * b";
    case Binary::divide: return "a / b";
    case Binary::mod: return "r = fmod(a, b); r == 0 ? copysign(r, b) : (r < 0) != (b < 0) ? r + b : r";
    case Binary::rem: return "fmod(a, b)";
    case Binary::floor_divide:
      return "r = fmod(a, b); s = (a - r) / b; q = r != 0 && (r < 0) != (b < 0) ? s - 1 : s; f = floor(q); "
             "b == 0 ? a / b : q == 0 ? copysign(0, a / b) : q - f > 0.5 ? f + 1 : f";
    case Binary::power: return "pow(a, b)";
    case Binary::maximum: return "isnan(a) || a > b ? a : b";
    case Binary::minimum: return "isnan(a) || a < b ? a : b";
    case Binary::arctan2: return "atan2(a, b)";
    default: return {};  // of integers and bools only
  }
}

std::string_view integer_meaning(Binary which) {
  switch (which) {
    case Binary::add: return "add(a, b)";
    case Binary::subtract: return "sub(a, b)";
    case Binary::multiply: return "mul(a, b)";
    case Binary::floor_divide: return "div(a, b)";
    case Binary::mod: return "mod(a, b)";
    case Binary::rem: return "r = mod(a, b); r != 0 && (a < 0) != (b < 0) ? sub(r, b) : r";
    case Binary::power: return "pow(a, b)";
    case Binary::maximum: return "a > b ? a : b";
    case Binary::minimum: return "a < b ? a : b";
    case Binary::bitwise_and: return "a & b";
    case Binary::bitwise_or: return "a | b";
    case Binary::bitwise_xor: return "a ^ b";
    case Binary::left_shift: return "shl(a, b)";
    case Binary::right_shift: return "shr(a, b)";
    default: return {};  // of floats only
  }
}

std::string_view bool_meaning(Binary which) {
  switch (which) {
    case Binary::add:
    case Binary::maximum:
    case Binary::bitwise_or: return "a | b";
    case Binary::multiply:
    case Binary::minimum:
    case Binary::bitwise_and: return "a & b";
    case Binary::bitwise_xor: return "a ^ b";
    default: return {};
  }
}

template <Binary B>
Tile tile_of(std::span<const TensorType> in, const TensorType&, const Attrs&) {
  const DType t = in[0].dtype;
  return {HWY_DYNAMIC_DISPATCH(FindBinary)(B, t),
          {},
          t == DType::boolean ? bool_meaning(B)
          : is_float(t)       ? float_meaning(B)
                              : integer_meaning(B)};
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, call.op.dtypes);
  require(call.in[0].dtype == call.in[1].dtype, call.op.name, "expected two tensors of one dtype, got ",
          call.in[0], " and ", call.in[1]);
  return {{call.in[0].dtype, broadcast(call.in[0].shape, call.in[1].shape, call.op.name)}};
}

// Per mille: the ranges of the two inputs.
template <int kLowA, int kHighA, int kLowB, int kHighB, bool kSmooth = true>
std::vector<OpCase> cases() {
  const std::pair<Shape, Shape> shapes[] = {{{}, {}},
                                            {{7}, {7}},
                                            {{5, 1, 17}, {3, 1}},
                                            {{1031}, {}},
                                            {{}, {31, 64}},
                                            {{33, 64}, {64}},
                                            {{1, 4}, {3, 1}},
                                            {{0, 3}, {3}},
                                            {{2, 3, 1, 5, 4}, {3, 7, 1, 4}},
                                            {{40, 1}, {40, 3000}}};
  std::vector<OpCase> list;
  for (const auto& [a, b] : shapes) {
    list.push_back({{{a, kLowA * 1e-3, kHighA * 1e-3}, {b, kLowB * 1e-3, kHighB * 1e-3}}, {}, kSmooth});
  }
  return list;
}

// Quotients with both signs, whose whole part no small step changes.
std::vector<OpCase> cases_remainder() {
  std::vector<OpCase> list = cases<-20000, 20000, 1000, 5000, false>();
  for (const double side : {1.0, -1.0}) {
    const double low = std::min(side * 5.2, side * 5.8), high = std::max(side * 5.2, side * 5.8);
    for (const auto& [from, to] : {std::pair(2.1, 2.4), std::pair(-2.4, -2.1)})
      list.push_back({{{{7}, low, high, DType::f64}, {{3, 7}, from, to, DType::f64}}, {}});
  }
  return list;
}

#define PLIMSOLL_GRAD(fn, da, db)               \
  void grad_##fn(GradContext& g) {              \
    [[maybe_unused]] const Tensor& a = g.in(0); \
    [[maybe_unused]] const Tensor& b = g.in(1); \
    [[maybe_unused]] const Tensor& y = g.out(); \
    const Tensor& dy = g.dout();                \
    if (!is_float(a.dtype())) return;           \
    if (g.wants(0)) g.set(0, fit(g, 0, da));    \
    if (g.wants(1)) g.set(1, fit(g, 1, db));    \
  }
PLIMSOLL_GRAD(add, dy, dy)
PLIMSOLL_GRAD(subtract, dy, -dy)
PLIMSOLL_GRAD(multiply, dy* b, dy* a)
PLIMSOLL_GRAD(divide, dy / b, -(dy* y / b))
PLIMSOLL_GRAD(mod, dy, -(dy* floor_divide(a, b)))
PLIMSOLL_GRAD(rem, dy, -(dy* sign(a) * sign(b) * floor_divide(absolute(a), absolute(b))))
// Of equals the first is taken.
PLIMSOLL_GRAD(maximum, where(greater_equal(a, b), dy, scalar_like(dy, 0)),
              where(less(a, b), dy, scalar_like(dy, 0)))
PLIMSOLL_GRAD(minimum, where(less_equal(a, b), dy, scalar_like(dy, 0)),
              where(greater(a, b), dy, scalar_like(dy, 0)))
PLIMSOLL_GRAD(arctan2, dy* b / (square(a) + square(b)), -(dy* a / (square(a) + square(b))))
// a^0 has the slope 0 for every a; log(a) counts only where it is defined.
PLIMSOLL_GRAD(power, where(equal(b, scalar_like(b, 0)), scalar_like(a, 0), dy* b* power(a, b - 1.0)),
              dy* y* where(greater(a, scalar_like(a, 0)), log(maximum(a, scalar_like(a, 1e-38))),
                           scalar_like(a, 0)))

#define PLIMSOLL_ROW(fn, grad_fn, type_list, case_list)                                         \
  OpDef {                                                                                       \
    .name = #fn, .arity = {2, 2}, .infer = infer, .grad = grad_fn, .tile = tile_of<Binary::fn>, \
    .cases = case_list, .dtypes = type_list                                                     \
  }
constexpr OpDef kDefs[] = {
    PLIMSOLL_ROW(add, grad_add, kAllReal, (cases<-2000, 2000, -2000, 2000>)),
    PLIMSOLL_ROW(subtract, grad_subtract, kNumbers, (cases<-2000, 2000, -2000, 2000>)),
    PLIMSOLL_ROW(multiply, grad_multiply, kAllReal, (cases<-2000, 2000, -2000, 2000>)),
    PLIMSOLL_ROW(divide, grad_divide, kFloats, (cases<-2000, 2000, 500, 2000>)),
    PLIMSOLL_ROW(floor_divide, nullptr, kNumbers, (cases<-20000, 20000, 1000, 5000, false>)),
    PLIMSOLL_ROW(mod, grad_mod, kNumbers, cases_remainder),
    PLIMSOLL_ROW(rem, grad_rem, kNumbers, cases_remainder),
    PLIMSOLL_ROW(power, grad_power, kNumbers, (cases<300, 4000, 0, 3000>)),
    PLIMSOLL_ROW(maximum, grad_maximum, kAllReal, (cases<-2000, 2000, -2000, 2000>)),
    PLIMSOLL_ROW(minimum, grad_minimum, kAllReal, (cases<-2000, 2000, -2000, 2000>)),
    PLIMSOLL_ROW(arctan2, grad_arctan2, kFloats, (cases<-2000, 2000, 200, 2000>)),
    PLIMSOLL_ROW(bitwise_and, nullptr, kBits, (cases<0, 100000, 0, 100000, false>)),
    PLIMSOLL_ROW(bitwise_or, nullptr, kBits, (cases<0, 100000, 0, 100000, false>)),
    PLIMSOLL_ROW(bitwise_xor, nullptr, kBits, (cases<0, 100000, 0, 100000, false>)),
    PLIMSOLL_ROW(left_shift, nullptr, kIntegers, (cases<0, 100000, 0, 7000, false>)),
    PLIMSOLL_ROW(right_shift, nullptr, kIntegers, (cases<0, 100000, 0, 7000, false>)),
};

// Both operands in the dtype they meet in.
Tensor binary(std::string_view name, const Tensor& a, const Tensor& b, bool floats = false) {
  DType t = promote(a.dtype(), b.dtype());
  if (floats && !is_float(t) && !is_complex(t)) t = DType::f32;
  if (is_complex(t)) return complex_binary(name, cast(a, t), cast(b, t));
  return apply1(get_op(name), {a.dtype() == t ? a : cast(a, t), b.dtype() == t ? b : cast(b, t)});
}

}  // namespace

std::span<const OpDef> ops_binary() { return kDefs; }

#define PLIMSOLL_PUBLIC(fn) \
  Tensor fn(const Tensor& a, const Tensor& b) { return binary(#fn, a, b); }
PLIMSOLL_PUBLIC(add)
PLIMSOLL_PUBLIC(subtract)
PLIMSOLL_PUBLIC(multiply)
PLIMSOLL_PUBLIC(floor_divide)
PLIMSOLL_PUBLIC(mod)
PLIMSOLL_PUBLIC(rem)
PLIMSOLL_PUBLIC(power)
PLIMSOLL_PUBLIC(maximum)
PLIMSOLL_PUBLIC(minimum)
PLIMSOLL_PUBLIC(bitwise_and)
PLIMSOLL_PUBLIC(bitwise_or)
PLIMSOLL_PUBLIC(bitwise_xor)
PLIMSOLL_PUBLIC(left_shift)
PLIMSOLL_PUBLIC(right_shift)
Tensor divide(const Tensor& a, const Tensor& b) { return binary("divide", a, b, true); }
Tensor arctan2(const Tensor& a, const Tensor& b) { return binary("arctan2", a, b, true); }

Tensor scalar_like(const Tensor& like, double value) { return Tensor::full(like.dtype(), Shape{}, value); }

}  // namespace plimsoll
#endif

// Comparisons of two tensors of one dtype, broadcast; the result is bool. Nothing compares with NaN, except
// that it is not_equal to everything.
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/compare.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "device/cpu/simd_loops-inl.h"
#include "graph/op.h"

#ifndef PLIMSOLL_COMPARE_ROWS
#define PLIMSOLL_COMPARE_ROWS
namespace plimsoll {
// Eight bits to eight bytes 0 or 1, in the order of x86's memory.
inline constexpr std::array<uint64_t, 256> kBitsToBytes = [] {
  std::array<uint64_t, 256> table{};
  for (size_t bits = 0; bits < 256; ++bits) {
    for (size_t i = 0; i < 8; ++i) table[bits] |= static_cast<uint64_t>(bits >> i & 1) << (8 * i);
  }
  return table;
}();
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct Equal {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a == b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Eq(a, b);
  }
};
struct NotEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a != b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Not(hn::Eq(a, b));  // Highway's Ne is false for NaN
  }
};
struct Less {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a < b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Lt(a, b);
  }
};
struct LessEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a <= b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Le(a, b);
  }
};
struct Greater {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a > b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Gt(a, b);
  }
};
struct GreaterEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a >= b;
  }
  template <class V>
  static HWY_INLINE auto vec(V a, V b) {
    return hn::Ge(a, b);
  }
};

// Floats by vectors of at most eight: a mask is eight bits, and a table makes them bytes.
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
template <class Op>
void Floats(const void* const* in, void* out, size_t n, const double*) {
  const hn::CappedTag<float, 8> d;
  const size_t lanes = hn::Lanes(d);
  const float* a = static_cast<const float*>(in[0]);
  const float* b = static_cast<const float*>(in[1]);
  uint8_t* y = static_cast<uint8_t*>(out);
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint8_t bits = 0, more = 0;
    hn::StoreMaskBits(d, Op::vec(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), &bits);
    if (lanes == 4) {
      hn::StoreMaskBits(d, Op::vec(hn::LoadU(d, a + i + 4), hn::LoadU(d, b + i + 4)), &more);
      bits = static_cast<uint8_t>((bits & 15) | more << 4);
    }
    std::memcpy(y + i, &kBitsToBytes[bits], 8);
  }
  for (; i < n; ++i) y[i] = Op::one(a[i], b[i]);
}
#else
template <class Op>
void Floats(const void* const* in, void* out, size_t n, const double* params) {
  simd::Each2<Op, float, uint8_t>(in, out, n, params);
}
#endif

template <class Op>
TileFn ForType(DType t) {
  switch (t) {
    case DType::boolean:
    case DType::u8: return simd::Each2<Op, uint8_t, uint8_t>;
    case DType::u16: return simd::Each2<Op, uint16_t, uint8_t>;
    case DType::u32: return simd::Each2<Op, uint32_t, uint8_t>;
    case DType::u64: return simd::Each2<Op, uint64_t, uint8_t>;
    case DType::i8: return simd::Each2<Op, int8_t, uint8_t>;
    case DType::i16: return simd::Each2<Op, int16_t, uint8_t>;
    case DType::i32: return simd::Each2<Op, int32_t, uint8_t>;
    case DType::i64: return simd::Each2<Op, int64_t, uint8_t>;
    case DType::f16:
    case DType::bf16:
    case DType::f32: return Floats<Op>;
    case DType::f64: return simd::Each2<Op, double, uint8_t>;
    default: return nullptr;
  }
}
}  // namespace

TileFn FindComparison(Comparison which, DType t) {
  switch (which) {
    case Comparison::equal: return ForType<Equal>(t);
    case Comparison::not_equal: return ForType<NotEqual>(t);
    case Comparison::less: return ForType<Less>(t);
    case Comparison::less_equal: return ForType<LessEqual>(t);
    case Comparison::greater: return ForType<Greater>(t);
    case Comparison::greater_equal: return ForType<GreaterEqual>(t);
  }
  return nullptr;
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindComparison);
namespace {

constexpr std::string_view kMeanings[] = {"a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b"};

template <Comparison C>
Tile tile_of(std::span<const TensorType> in, const TensorType&, const Attrs&) {
  return {HWY_DYNAMIC_DISPATCH(FindComparison)(C, in[0].dtype), {}, kMeanings[static_cast<size_t>(C)]};
}

std::vector<TensorType> infer(const OpCall& call) {
  require_dtype(call, 0, kAllReal);
  require(call.in[0].dtype == call.in[1].dtype, call.op.name, "expected two tensors of one dtype, got ",
          call.in[0], " and ", call.in[1]);
  return {{DType::boolean, broadcast(call.in[0].shape, call.in[1].shape, call.op.name)}};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> list;
  for (const Shape& shape : odd_shapes()) list.push_back({{{shape, 0, 4}, {shape, 0, 4}}, {}, false});
  list.push_back({{{{5, 1, 17}, 0, 4}, {{3, 1}, 0, 4}}, {}, false});
  return list;
}

#define PLIMSOLL_ROW(fn)                                                                           \
  OpDef {                                                                                          \
    .name = #fn, .arity = {2, 2}, .infer = infer, .tile = tile_of<Comparison::fn>, .cases = cases, \
    .dtypes = kAllReal                                                                             \
  }
constexpr OpDef kDefs[] = {PLIMSOLL_ROW(equal),      PLIMSOLL_ROW(not_equal), PLIMSOLL_ROW(less),
                           PLIMSOLL_ROW(less_equal), PLIMSOLL_ROW(greater),   PLIMSOLL_ROW(greater_equal)};

Tensor compare(std::string_view name, const Tensor& a, const Tensor& b) {
  const DType t = promote(a.dtype(), b.dtype());
  if (is_complex(t)) return complex_compare(name, cast(a, t), cast(b, t));
  return apply1(get_op(name), {a.dtype() == t ? a : cast(a, t), b.dtype() == t ? b : cast(b, t)});
}

}  // namespace

std::span<const OpDef> ops_compare() { return kDefs; }

Tensor equal(const Tensor& a, const Tensor& b) { return compare("equal", a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return compare("not_equal", a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return compare("less", a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return compare("less_equal", a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return compare("greater", a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return compare("greater_equal", a, b); }

}  // namespace plimsoll
#endif

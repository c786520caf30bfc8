// Comparisons of two tensors of one dtype, broadcast; the result is bool. Nothing compares with NaN, except
// that it is not_equal to everything.
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/compare.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "device/cpu/simd_loops-inl.h"
#include "graph/op.h"

#ifndef PLIMSOLL_COMPARE_ROWS
#define PLIMSOLL_COMPARE_ROWS
namespace plimsoll {
enum class Comparison { equal, not_equal, less, less_equal, greater, greater_equal };
}  // namespace plimsoll
#endif

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {

struct Equal {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  static HWY_INLINE bool one(T a, T b) {
    return a >= b;
  }
};

template <class Op>
TileFn ForType(DType t) {
  switch (t) {
    case DType::boolean:
    case DType::u8:
      return simd::Each2<Op, uint8_t, uint8_t>;
    case DType::u16:
      return simd::Each2<Op, uint16_t, uint8_t>;
    case DType::u32:
      return simd::Each2<Op, uint32_t, uint8_t>;
    case DType::u64:
      return simd::Each2<Op, uint64_t, uint8_t>;
    case DType::i8:
      return simd::Each2<Op, int8_t, uint8_t>;
    case DType::i16:
      return simd::Each2<Op, int16_t, uint8_t>;
    case DType::i32:
      return simd::Each2<Op, int32_t, uint8_t>;
    case DType::i64:
      return simd::Each2<Op, int64_t, uint8_t>;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
      return simd::Each2<Op, float, uint8_t>;
    case DType::f64:
      return simd::Each2<Op, double, uint8_t>;
    default:
      return nullptr;
  }
}
}  // namespace

TileFn FindComparison(Comparison which, DType t) {
  switch (which) {
    case Comparison::equal:
      return ForType<Equal>(t);
    case Comparison::not_equal:
      return ForType<NotEqual>(t);
    case Comparison::less:
      return ForType<Less>(t);
    case Comparison::less_equal:
      return ForType<LessEqual>(t);
    case Comparison::greater:
      return ForType<Greater>(t);
    case Comparison::greater_equal:
      return ForType<GreaterEqual>(t);
  }
  return nullptr;
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindComparison);
namespace {

template <Comparison C>
Tile tile_of(std::span<const TensorType> in, const TensorType&, const Attrs&) {
  return {HWY_DYNAMIC_DISPATCH(FindComparison)(C, in[0].dtype), {}};
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

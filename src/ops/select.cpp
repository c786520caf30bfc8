// where(condition, a, b) and clip(x, low, high).
#include "device/cpu/highway.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstdint>

#include "device/cpu/highway.h"
#include "graph/op.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void Select(const void* const* in, void* out, size_t n, const double*) {
  const uint8_t* c = static_cast<const uint8_t*>(in[0]);
  const T* a = static_cast<const T*>(in[1]);
  const T* b = static_cast<const T*>(in[2]);
  T* y = static_cast<T*>(out);
  PLIMSOLL_EACH
  for (size_t i = 0; i < n; ++i) y[i] = c[i] ? a[i] : b[i];
}

template <>
void Select<uint32_t>(const void* const* in, void* out, size_t n, const double*) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t lanes = hn::Lanes(d);
  const uint8_t* c = static_cast<const uint8_t*>(in[0]);
  const uint32_t* a = static_cast<const uint32_t*>(in[1]);
  const uint32_t* b = static_cast<const uint32_t*>(in[2]);
  uint32_t* y = static_cast<uint32_t*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto mask = hn::Ne(hn::PromoteTo(d, hn::LoadU(d8, c + i)), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(mask, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  }
  for (; i < n; ++i) y[i] = c[i] ? a[i] : b[i];
}

// The bounds are in T's range. NaN is neither below nor above, and stays.
template <class T>
void Clip(const void* const* in, void* out, size_t n, const double* bounds) {
  const T low = static_cast<T>(bounds[0]), high = static_cast<T>(bounds[1]);
  const T* x = static_cast<const T*>(in[0]);
  T* y = static_cast<T*>(out);
  PLIMSOLL_EACH
  for (size_t i = 0; i < n; ++i) {
    const T v = x[i] < low ? low : x[i];
    y[i] = v > high ? high : v;
  }
}
}  // namespace

TileFn FindSelect(size_t size) {
  return size == 1   ? Select<uint8_t>
         : size == 2 ? Select<uint16_t>
         : size == 4 ? Select<uint32_t>
                     : Select<uint64_t>;
}

TileFn FindClip(DType t) {
  switch (t) {
    case DType::u8: return Clip<uint8_t>;
    case DType::u16: return Clip<uint16_t>;
    case DType::u32: return Clip<uint32_t>;
    case DType::u64: return Clip<uint64_t>;
    case DType::i8: return Clip<int8_t>;
    case DType::i16: return Clip<int16_t>;
    case DType::i32: return Clip<int32_t>;
    case DType::i64: return Clip<int64_t>;
    case DType::f64: return Clip<double>;
    default: return Clip<float>;
  }
}

}  // namespace plimsoll::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
HWY_EXPORT(FindSelect);
HWY_EXPORT(FindClip);
namespace {

size_t register_size(DType t) { return t == DType::f16 || t == DType::bf16 ? 4 : size_of(t); }

Tile tile_where(std::span<const TensorType>, const TensorType& out, const Attrs&) {
  return {HWY_DYNAMIC_DISPATCH(FindSelect)(register_size(out.dtype)), {}, "a ? b : c"};
}

std::vector<TensorType> infer_where(const OpCall& call) {
  require(call.in[0].dtype == DType::boolean, "where", "expected a condition of bool, got ", call.in[0]);
  require_dtype(call, 1, kAllReal);
  require(call.in[1].dtype == call.in[2].dtype, "where", "expected two tensors of one dtype, got ",
          call.in[1], " and ", call.in[2]);
  const Shape both = broadcast(call.in[1].shape, call.in[2].shape, "where");
  return {{call.in[1].dtype, broadcast(call.in[0].shape, both, "where")}};
}

void grad_where(GradContext& g) {
  if (!is_float(g.out().dtype())) return;
  const Tensor zero = scalar_like(g.dout(), 0);
  if (g.wants(1)) g.set(1, fit(g, 1, where(g.in(0), g.dout(), zero)));
  if (g.wants(2)) g.set(2, fit(g, 2, where(g.in(0), zero, g.dout())));
}

std::vector<OpCase> cases_where() {
  std::vector<OpCase> list;
  const auto condition = [](const Shape& s) { return InputCase{s, 0, 1, DType::boolean}; };
  for (const Shape& shape : odd_shapes()) list.push_back({{condition(shape), {shape}, {shape}}, {}});
  list.push_back({{condition({5, 1, 17}), {{3, 1}}, {{}}}, {}});
  list.push_back({{condition({}), {{3, 1}}, {{1, 70}}}, {}});
  return list;
}

// The bound as a value of T's range: integers round inward, so that no result lies outside the bounds.
double in_range(DType t, double bound, bool low) {
  if (is_float(t)) return bound;
  const int bits = static_cast<int>(8 * size_of(t)) - is_signed_int(t);
  // The largest double below 2^bits, so that the conversion back is defined.
  const double most = bits > 53 ? std::nextafter(std::ldexp(1.0, bits), 0) : std::ldexp(1.0, bits) - 1;
  const double least = is_signed_int(t) ? -std::ldexp(1.0, bits) : 0;
  return std::fmin(std::fmax(low ? std::ceil(bound) : std::floor(bound), least), most);
}

Tile tile_clip(std::span<const TensorType> in, const TensorType&, const Attrs& attrs) {
  const DType t = in[0].dtype;
  return {HWY_DYNAMIC_DISPATCH(FindClip)(t),
          {in_range(t, attrs.real("low"), true), in_range(t, attrs.real("high"), false)},
          "m = a < p0 ? p0 : a; m > p1 ? p1 : m"};
}

std::vector<TensorType> infer_clip(const OpCall& call) {
  require_dtype(call, 0, kNumbers);
  const double low = call.attrs.real("low"), high = call.attrs.real("high");
  require(!std::isnan(low) && !std::isnan(high), "clip", "expected bounds that are numbers, got NaN");
  return {call.in[0]};
}

void grad_clip(GradContext& g) {
  const Tensor& x = g.in(0);
  if (!is_float(x.dtype())) return;
  const Tensor inside = bitwise_and(greater_equal(x, scalar_like(x, g.attrs().real("low"))),
                                    less_equal(x, scalar_like(x, g.attrs().real("high"))));
  g.set(0, where(inside, g.dout(), scalar_like(g.dout(), 0)));
}

std::vector<OpCase> cases_clip() {
  std::vector<OpCase> list;
  for (const Shape& shape : odd_shapes()) list.push_back({{{shape, -3, 3}}, {{"low", -1.0}, {"high", 1.25}}});
  return list;
}

constexpr AttrDef kClipAttrs[] = {{"low", AttrKind::real}, {"high", AttrKind::real}};

constexpr OpDef kDefs[] = {
    {.name = "where",
     .arity = {3, 3},
     .infer = infer_where,
     .grad = grad_where,
     .tile = tile_where,
     .cases = cases_where,
     .dtypes = kAllReal},
    {.name = "clip",
     .attrs = kClipAttrs,
     .infer = infer_clip,
     .grad = grad_clip,
     .tile = tile_clip,
     .cases = cases_clip,
     .dtypes = kNumbers},
};

}  // namespace

std::span<const OpDef> ops_select() { return kDefs; }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const DType t = promote(a.dtype(), b.dtype());
  if (is_complex(t))
    return from_pairs(where(expand_dims(condition, -1), pairs(cast(a, t)), pairs(cast(b, t))));
  return apply1(get_op("where"),
                {condition.dtype() == DType::boolean ? condition : cast(condition, DType::boolean),
                 a.dtype() == t ? a : cast(a, t), b.dtype() == t ? b : cast(b, t)});
}
Tensor clip(const Tensor& x, double low, double high) {
  return apply1(get_op("clip"), {x}, {{"low", low}, {"high", high}});
}
Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) { return minimum(maximum(x, low), high); }

}  // namespace plimsoll
#endif

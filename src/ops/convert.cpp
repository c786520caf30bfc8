// cast(x, dtype) and bitcast(x, dtype). Integers wrap into a narrower type; floats cut off their fraction and
// saturate, NaN becomes 0; bool is x != 0. Whatever comes in, the result is defined.
#include <cmath>
#include <limits>
#include <type_traits>

#include "device/cpu/highway.h"
#include "graph/rows.h"
#include "ops/complex_parts.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

struct Bool {};  // stored in a byte, but converted to as x != 0

template <class From, class To>
To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^bits is exact in From, the largest integer of To may not be.
    constexpr From kEnd = static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;
    constexpr From kBegin = static_cast<From>(std::numeric_limits<To>::min());
    if (!(x > kBegin)) return std::isnan(x) ? To(0) : std::numeric_limits<To>::min();
    return x >= kEnd ? std::numeric_limits<To>::max() : static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast_tile(const void* const* in, void* out, size_t n, const double*) {
  const From* x = static_cast<const From*>(in[0]);
  if constexpr (std::is_same_v<To, Bool>) {
    uint8_t* y = static_cast<uint8_t*>(out);
    PLIMSOLL_EACH
    for (size_t i = 0; i < n; ++i) y[i] = x[i] != From(0);
  } else {
    To* y = static_cast<To*>(out);
    PLIMSOLL_EACH
    for (size_t i = 0; i < n; ++i) y[i] = convert<From, To>(x[i]);
  }
}

template <class From>
TileFn cast_from(DType to) {
  switch (to) {
    case DType::boolean: return cast_tile<From, Bool>;
    case DType::u8: return cast_tile<From, uint8_t>;
    case DType::u16: return cast_tile<From, uint16_t>;
    case DType::u32: return cast_tile<From, uint32_t>;
    case DType::u64: return cast_tile<From, uint64_t>;
    case DType::i8: return cast_tile<From, int8_t>;
    case DType::i16: return cast_tile<From, int16_t>;
    case DType::i32: return cast_tile<From, int32_t>;
    case DType::i64: return cast_tile<From, int64_t>;
    case DType::f64: return cast_tile<From, double>;
    default: return cast_tile<From, float>;
  }
}

TileFn cast_function(DType from, DType to) {
  switch (from) {
    case DType::boolean:
    case DType::u8: return cast_from<uint8_t>(to);
    case DType::u16: return cast_from<uint16_t>(to);
    case DType::u32: return cast_from<uint32_t>(to);
    case DType::u64: return cast_from<uint64_t>(to);
    case DType::i8: return cast_from<int8_t>(to);
    case DType::i16: return cast_from<int16_t>(to);
    case DType::i32: return cast_from<int32_t>(to);
    case DType::i64: return cast_from<int64_t>(to);
    case DType::f64: return cast_from<double>(to);
    default: return cast_from<float>(to);
  }
}

std::string_view meaning(DType from, DType to) {
  if (to == DType::boolean) return "a != 0";
  if (!is_float(from)) return "a";
  switch (to) {
    case DType::u8: return "to_u8(a)";
    case DType::u16: return "to_u16(a)";
    case DType::u32: return "to_u32(a)";
    case DType::u64: return "to_u64(a)";
    case DType::i8: return "to_i8(a)";
    case DType::i16: return "to_i16(a)";
    case DType::i32: return "to_i32(a)";
    case DType::i64: return "to_i64(a)";
    default: return "a";
  }
}

Tile tile_cast(std::span<const TensorType> in, const TensorType& out, const Attrs&) {
  return {cast_function(in[0].dtype, out.dtype), {}, meaning(in[0].dtype, out.dtype)};
}

std::vector<TensorType> infer_cast(const OpCall& call) {
  require_dtype(call, 0, kAllReal);
  const DType to = call.attrs.dtype("dtype");
  require(!is_complex(to), "cast", "expected a real dtype, got ", to);
  return {{to, call.in[0].shape}};
}

std::vector<TensorType> infer_bitcast(const OpCall& call) {
  const DType to = call.attrs.dtype("dtype");
  const Shape& x = call.in[0].shape;
  const auto from_size = static_cast<int64_t>(size_of(call.in[0].dtype));
  const auto to_size = static_cast<int64_t>(size_of(to));
  if (from_size == to_size) return {{to, x}};
  if (from_size > to_size) return {{to, x.inserted(x.rank(), from_size / to_size)}};
  require(x.rank() > 0 && x.dim(-1) == to_size / from_size, "bitcast", "expected a last axis of ",
          to_size / from_size, " to make ", to, " of, got ", call.in[0]);
  return {{to, x.without(x.rank() - 1)}};
}

// A complex number is two floats; the bits of others have no gradient.
void grad_bitcast(GradContext& g) {
  const DType from = g.in(0).dtype(), to = g.out().dtype();
  const bool halves = (is_complex(from) && is_float(to) && size_of(from) == 2 * size_of(to)) ||
                      (is_complex(to) && is_float(from) && size_of(to) == 2 * size_of(from));
  if (halves) g.set(0, bitcast(g.dout(), from));
}

void grad_cast(GradContext& g) {
  if (is_float(g.in(0).dtype()) && is_float(g.out().dtype())) g.set(0, cast(g.dout(), g.in(0).dtype()));
}

std::vector<OpCase> cases_cast() {
  std::vector<OpCase> list;
  for (const DType to : kAllReal) list.push_back({{{{3, 37}, 0, 100}}, {{"dtype", to}}, false});
  for (const DType to : kFloats) list.push_back({{{{7, 1, 5}, -3, 3}}, {{"dtype", to}}, to == DType::f64});
  list.push_back({{{{0, 2}}}, {{"dtype", DType::f32}}, false});
  return list;
}

std::optional<RowSplit> rows_bitcast(const RowQuery& q) {
  return q.call.in[0].shape == q.out[0].shape ? rows_but(q, {}) : std::nullopt;
}

std::vector<OpCase> cases_bitcast() {
  return {{{{{3, 5}, -9, 9, DType::f32}}, {{"dtype", DType::i32}}, false},
          {{{{}, -9, 9, DType::i64}}, {{"dtype", DType::f64}}, false},
          {{{{3, 5}, -9, 9, DType::f32}}, {{"dtype", DType::u8}}, false},
          {{{{3, 5, 4}, 0, 90, DType::u8}}, {{"dtype", DType::i32}}, false},
          {{{{}, -9, 9, DType::f64}}, {{"dtype", DType::u16}}, false},
          {{{{7, 2}, 0, 30000, DType::u16}}, {{"dtype", DType::u32}}, false}};
}

constexpr AttrDef kAttrs[] = {{"dtype", AttrKind::dtype}};
constexpr std::array kOneSize = {DType::u32};

constexpr OpDef kDefs[] = {
    {.name = "cast",
     .attrs = kAttrs,
     .infer = infer_cast,
     .grad = grad_cast,
     .tile = tile_cast,
     .cases = cases_cast,
     .dtypes = kAllReal},
    {.name = "bitcast",
     .attrs = kAttrs,
     .infer = infer_bitcast,
     .grad = grad_bitcast,
     .alias = true,
     .rows = rows_bitcast,
     .cases = cases_bitcast,
     .dtypes = kOneSize},
};

}  // namespace

std::span<const OpDef> ops_convert() { return kDefs; }

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() != dtype && (is_complex(x.dtype()) || is_complex(dtype))) return complex_cast(x, dtype);
  return x.dtype() == dtype ? x : apply1(get_op("cast"), {x}, {{"dtype", dtype}});
}
Tensor bitcast(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : apply1(get_op("bitcast"), {x}, {{"dtype", dtype}});
}

}  // namespace plimsoll

// nextafter(x, y), on the bits: read as integers of sign and magnitude, floats stand in the order of their
// values.
#include <cmath>

#include "device/cpu/widened.h"
#include "ops/elementwise.h"

namespace plimsoll {
namespace {

DType integer_of(DType t) { return is_half(t) ? DType::i16 : t == DType::f32 ? DType::i32 : DType::i64; }

// From sign and magnitude to a plain integer, and back.
Tensor turned(const Tensor& bits) {
  const int width = static_cast<int>(8 * size_of(bits.dtype()));
  const Tensor least = scalar_like(bits, -std::ldexp(1.0, width - 1));
  return where(less(bits, scalar_like(bits, 0)), least - bits, bits);
}

}  // namespace

Tensor nextafter(const Tensor& x, const Tensor& y) {
  const DType met = promote(x.dtype(), y.dtype());
  require(!is_complex(met), "nextafter", "expected real numbers, got ", x.type(), " and ", y.type());
  const DType t = is_float(met) ? met : DType::f32;
  const Tensor from = cast(x, t), to = cast(y, t);
  const Tensor a = turned(bitcast(from, integer_of(t))), b = turned(bitcast(to, integer_of(t)));
  const Tensor up = turned(a + 1.0), down = turned(a - 1.0);
  const Tensor moved = where(equal(a, b), turned(b), where(less(a, b), up, down));
  const Tensor nan = bitwise_or(not_equal(from, from), not_equal(to, to));
  return where(nan, from + to, bitcast(moved, t));
}

std::span<const OpDef> ops_nextafter() { return {}; }

}  // namespace plimsoll

#include "support/fill.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/half.h"

namespace plimsoll::testing {
namespace {

// The double as the nearest value of T; integers are exact for what fill() makes.
template <class T>
void put(void* elements, int64_t i, double value) {
  static_cast<T*>(elements)[i] = static_cast<T>(value);
}
template <class T>
double get(const Tensor& t, int64_t i) {
  return static_cast<double>(static_cast<const T*>(t.data())[i]);
}

void write(DType dtype, void* elements, int64_t i, double value) {
  switch (dtype) {
    case DType::boolean: return put<uint8_t>(elements, i, value != 0 ? 1 : 0);
    case DType::u8: return put<uint8_t>(elements, i, value);
    case DType::u16: return put<uint16_t>(elements, i, value);
    case DType::u32: return put<uint32_t>(elements, i, value);
    case DType::u64: return put<uint64_t>(elements, i, value);
    case DType::i8: return put<int8_t>(elements, i, value);
    case DType::i16: return put<int16_t>(elements, i, value);
    case DType::i32: return put<int32_t>(elements, i, value);
    case DType::i64: return put<int64_t>(elements, i, value);
    case DType::f16: return put<uint16_t>(elements, i, f16_bits(static_cast<float>(value)));
    case DType::bf16: return put<uint16_t>(elements, i, bf16_bits(static_cast<float>(value)));
    case DType::f32:
    case DType::c64: return put<float>(elements, i, value);
    case DType::f64:
    case DType::c128: return put<double>(elements, i, value);
  }
}

double draw(DType dtype, double low, double high, uint64_t seed, uint64_t i) {
  const double u = unit_at(seed, i);
  if (dtype == DType::boolean) return u < 0.5 ? 0 : 1;
  if (!is_integer(dtype)) return low + (high - low) * u;
  const double first = std::ceil(is_unsigned_int(dtype) && low < 0 ? 0 : low);
  const double last = std::floor(high);
  return first + std::floor((last - first + 1) * u);
}

}  // namespace

uint64_t hash_at(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double unit_at(uint64_t seed, uint64_t i) { return static_cast<double>(hash_at(seed, i) >> 11) * 0x1p-53; }

uint64_t hash_text(std::string_view text) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return h;
}

int64_t parts(const Tensor& t) { return t.shape().elements() * (is_complex(t.dtype()) ? 2 : 1); }

double element(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::boolean: return get<uint8_t>(t, i) != 0 ? 1 : 0;
    case DType::u8: return get<uint8_t>(t, i);
    case DType::u16: return get<uint16_t>(t, i);
    case DType::u32: return get<uint32_t>(t, i);
    case DType::u64: return get<uint64_t>(t, i);
    case DType::i8: return get<int8_t>(t, i);
    case DType::i16: return get<int16_t>(t, i);
    case DType::i32: return get<int32_t>(t, i);
    case DType::i64: return get<int64_t>(t, i);
    case DType::f16: return from_f16(static_cast<const uint16_t*>(t.data())[i]);
    case DType::bf16: return from_bf16(static_cast<const uint16_t*>(t.data())[i]);
    case DType::f32:
    case DType::c64: return get<float>(t, i);
    case DType::f64:
    case DType::c128: return get<double>(t, i);
  }
  return 0;
}

void set_element(const Tensor& t, int64_t i, double value) { write(t.dtype(), t.data(), i, value); }

// From bytes of its own, so that nobody has held a pointer to the tensor's.
Tensor fill(DType dtype, const Shape& shape, double low, double high, uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<size_t>(byte_size(dtype, shape)));
  const int64_t n = shape.elements() * (is_complex(dtype) ? 2 : 1);
  for (int64_t i = 0; i < n; ++i) {
    write(dtype, bytes.data(), i, draw(dtype, low, high, seed, static_cast<uint64_t>(i)));
  }
  return Tensor::from_bytes(dtype, shape, bytes.data());
}

}  // namespace plimsoll::testing

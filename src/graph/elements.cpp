#include "graph/elements.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/half.h"

namespace plimsoll {
namespace {

template <class T>
double read(const void* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void write(void* p, double value) {
  const T cast = static_cast<T>(value);
  std::memcpy(p, &cast, sizeof cast);
}

// Integers outside the range of T would be undefined behaviour to cast: they are clamped.
template <class T>
void write_integer(void* p, double value) {
  constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
  constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
  T cast = 0;
  if (value >= high)
    cast = std::numeric_limits<T>::max();
  else if (value <= low)
    cast = std::numeric_limits<T>::min();
  else if (!std::isnan(value))
    cast = static_cast<T>(value);
  std::memcpy(p, &cast, sizeof cast);
}

}  // namespace

double read_element(DType t, const void* p) {
  switch (t) {
    case DType::boolean: return read<uint8_t>(p) != 0;
    case DType::u8: return read<uint8_t>(p);
    case DType::u16: return read<uint16_t>(p);
    case DType::u32: return read<uint32_t>(p);
    case DType::u64: return read<uint64_t>(p);
    case DType::i8: return read<int8_t>(p);
    case DType::i16: return read<int16_t>(p);
    case DType::i32: return read<int32_t>(p);
    case DType::i64: return read<int64_t>(p);
    case DType::f16: return f16_to_float(static_cast<uint16_t>(read<uint16_t>(p)));
    case DType::bf16: return bf16_to_float(static_cast<uint16_t>(read<uint16_t>(p)));
    case DType::f32:
    case DType::c64: return read<float>(p);
    case DType::f64:
    case DType::c128: return read<double>(p);
  }
  return 0;
}

void write_element(DType t, void* p, double v) {
  switch (t) {
    case DType::boolean: return write<uint8_t>(p, v != 0);
    case DType::u8: return write_integer<uint8_t>(p, v);
    case DType::u16: return write_integer<uint16_t>(p, v);
    case DType::u32: return write_integer<uint32_t>(p, v);
    case DType::u64: return write_integer<uint64_t>(p, v);
    case DType::i8: return write_integer<int8_t>(p, v);
    case DType::i16: return write_integer<int16_t>(p, v);
    case DType::i32: return write_integer<int32_t>(p, v);
    case DType::i64: return write_integer<int64_t>(p, v);
    case DType::f16: return write<uint16_t>(p, float_to_f16(static_cast<float>(v)));
    case DType::bf16: return write<uint16_t>(p, float_to_bf16(static_cast<float>(v)));
    case DType::f32: return write<float>(p, v);
    case DType::f64: return write<double>(p, v);
    case DType::c64: {
      const float pair[2] = {static_cast<float>(v), 0};
      std::memcpy(p, pair, sizeof pair);
      return;
    }
    case DType::c128: {
      const double pair[2] = {v, 0};
      std::memcpy(p, pair, sizeof pair);
      return;
    }
  }
}

namespace {

template <class T>
std::string number_text(T value) {
  std::array<char, 40> out;
  return std::string(out.data(), std::to_chars(out.data(), out.data() + out.size(), value).ptr);
}

template <class T>
bool parse_number(std::string_view text, void* to) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  std::memcpy(to, &value, sizeof value);
  return true;
}

template <class T>
std::string pair_text(const void* from) {
  T pair[2];
  std::memcpy(pair, from, sizeof pair);
  return number_text(pair[0]) + ":" + number_text(pair[1]);
}

template <class T>
bool parse_pair(std::string_view text, void* to) {
  const size_t colon = text.find(':');
  return colon != text.npos && parse_number<T>(text.substr(0, colon), to) &&
         parse_number<T>(text.substr(colon + 1), static_cast<T*>(to) + 1);
}

}  // namespace

std::string element_text(DType t, const void* p) {
  uint64_t u;
  int64_t i;
  switch (t) {
    case DType::u64: std::memcpy(&u, p, 8); return number_text(u);
    case DType::i64: std::memcpy(&i, p, 8); return number_text(i);
    case DType::f64: return number_text(read<double>(p));
    case DType::c64: return pair_text<float>(p);
    case DType::c128: return pair_text<double>(p);
    default: return number_text(read_element(t, p));
  }
}

bool parse_element(DType t, std::string_view text, void* to) {
  switch (t) {
    case DType::u64: return parse_number<uint64_t>(text, to);
    case DType::i64: return parse_number<int64_t>(text, to);
    case DType::c64: return parse_pair<float>(text, to);
    case DType::c128: return parse_pair<double>(text, to);
    default: {
      double value = 0;
      if (!parse_number<double>(text, &value)) return false;
      write_element(t, to, value);
      return true;
    }
  }
}

}  // namespace plimsoll

#include <array>
#include <charconv>
#include <cstring>

#include "common/files.h"
#include "common/half.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

namespace plimsoll {
namespace {

constexpr size_t kBlock = 256 << 10;

template <class T>
void append_number(std::string& text, const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  std::array<char, 64> digits;
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  text.append(digits.data(), result.ptr);
}

void append_half(std::string& text, const char* at, float (*widen)(uint16_t)) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  const float value = widen(bits);
  append_number<float>(text, reinterpret_cast<const char*>(&value));
}

void append_element(std::string& text, DType dtype, const char* at) {
  switch (dtype) {
    case DType::boolean:
    case DType::u8: return append_number<uint8_t>(text, at);
    case DType::u16: return append_number<uint16_t>(text, at);
    case DType::u32: return append_number<uint32_t>(text, at);
    case DType::u64: return append_number<uint64_t>(text, at);
    case DType::i8: return append_number<int8_t>(text, at);
    case DType::i16: return append_number<int16_t>(text, at);
    case DType::i32: return append_number<int32_t>(text, at);
    case DType::i64: return append_number<int64_t>(text, at);
    case DType::f16: return append_half(text, at, f16_to_float);
    case DType::bf16: return append_half(text, at, bf16_to_float);
    case DType::f32: return append_number<float>(text, at);
    case DType::f64: return append_number<double>(text, at);
    case DType::c64:
    case DType::c128: break;
  }
  fail(ErrorKind::unsupported, "write_csv", "expected real numbers, got ", dtype);
}

// Quoted where it must be.
std::string field(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string quoted(1, '"');
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

}  // namespace

void write_csv(const std::string& path, const Tensor& array, const std::vector<std::string>& columns) {
  require(array.defined() && !array.is_symbolic() && array.rank() >= 1, "write_csv",
          "expected a concrete tensor with an axis of records");
  const int64_t width = array.shape().without(0).elements();
  require(columns.empty() || static_cast<int64_t>(columns.size()) == width, "write_csv", "expected ", width,
          " column names, got ", columns.size());
  write_atomically(path, [&](NewFile& file) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) text.append(i > 0 ? 1 : 0, ',').append(field(columns[i]));
    if (!columns.empty()) text += '\n';
    const char* at = static_cast<const char*>(array.data());
    for (int64_t row = 0; row < array.dim(0); ++row) {
      for (int64_t i = 0; i < width; ++i, at += size_of(array.dtype())) {
        if (i > 0) text += ',';
        append_element(text, array.dtype(), at);
      }
      text += '\n';
      if (text.size() >= kBlock) {
        file.write(text.data(), text.size());
        text.clear();
      }
    }
    file.write(text.data(), text.size());
  });
}

}  // namespace plimsoll

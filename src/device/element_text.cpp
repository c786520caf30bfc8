#include "device/element_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "common/half.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

// Shortest decimals that read back as the same value, whatever the locale.
template <class T>
std::string real_literal(T value, std::string_view suffix) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "(-INFINITY)";
  char buffer[64];
  std::string text(buffer, std::to_chars(buffer, std::end(buffer), value).ptr);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  text += suffix;
  return std::signbit(value) ? concat("(", text, ")") : text;
}

template <class T>
std::string integer_literal(T value) {
  if (std::cmp_equal(value, std::numeric_limits<int64_t>::min())) return "(-9223372036854775807LL - 1)";
  const bool small = std::in_range<int32_t>(value);
  const std::string text = concat(value, small ? "" : std::is_signed_v<T> ? "LL" : "ULL");
  return std::cmp_less(value, 0) ? concat("(", text, ")") : text;
}

// Requires: integers lie in the type's range.
std::string literal(double value, DType type) {
  if (type == DType::f64) return real_literal(value, "");
  if (is_float(type)) return real_literal(static_cast<float>(value), "f");
  return is_signed_int(type) ? integer_literal(static_cast<int64_t>(value))
                             : integer_literal(static_cast<uint64_t>(value));
}

constexpr ElementFunction kFunctions[] = {
    {.name = "abs"},
    {.name = "floor"},
    {.name = "ceil"},
    {.name = "rint"},
    {.name = "sqrt"},
    {.name = "fmod"},
    {.name = "copysign"},
    {.name = "isnan"},
    {.name = "to_u8"},
    {.name = "to_u16"},
    {.name = "to_u32"},
    {.name = "to_u64"},
    {.name = "to_i8"},
    {.name = "to_i16"},
    {.name = "to_i32"},
    {.name = "to_i64"},
    {.name = "exp", .exact = false},
    {.name = "expm1", .exact = false},
    {.name = "log", .exact = false},
    {.name = "log1p", .exact = false},
    {.name = "cbrt", .exact = false},
    {.name = "sin", .exact = false},
    {.name = "cos", .exact = false},
    {.name = "tan", .exact = false},
    {.name = "asin", .exact = false},
    {.name = "acos", .exact = false},
    {.name = "atan", .exact = false},
    {.name = "atan2", .exact = false},
    {.name = "sinh", .exact = false},
    {.name = "cosh", .exact = false},
    {.name = "tanh", .exact = false},
    {.name = "asinh", .exact = false},
    {.name = "acosh", .exact = false},
    {.name = "atanh", .exact = false},
    {.name = "erf", .exact = false},
    {.name = "erfc", .exact = false},
    {.name = "erfinv", .exact = false},
    {.name = "i0e", .exact = false},
    {.name = "i1e", .exact = false},
    {.name = "igamma", .exact = false},
    {.name = "igammac", .exact = false},
    {.name = "gamma_density", .exact = false},
    {.name = "pow", .integers = true, .exact = false},
    {.name = "add", .floats = false, .integers = true},
    {.name = "sub", .floats = false, .integers = true},
    {.name = "mul", .floats = false, .integers = true},
    {.name = "div", .floats = false, .integers = true},
    {.name = "mod", .floats = false, .integers = true},
    {.name = "shl", .floats = false, .integers = true},
    {.name = "shr", .floats = false, .integers = true},
};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A text of the language, word by word, as C. Names of the text stand for operands, parameters, or what the
// text itself has named; functions and numbers are those of one type.
class Meaning {
 public:
  Meaning(const Tile& tile, std::span<const std::string> operands, DType type, std::string_view result)
      : tile_(tile), text_(tile.meaning), operands_(operands), type_(type), result_(result) {}

  // The next "name = expression;" as a declaration; empty if the last expression is next.
  std::string declaration() {
    const size_t end = text_.find(';');
    if (end == text_.npos) return {};
    const size_t equals = text_.find('=');
    const std::string_view name = trimmed(text_.substr(0, equals));
    const std::string value = expression(trimmed(text_.substr(equals + 1, end - equals - 1)));
    names_.push_back(name);
    text_.remove_prefix(end + 1);
    return concat("const ", source_type(type_).name, " ", result_, "_", name, " = ", value, ";\n");
  }

  std::string last_expression() const { return expression(trimmed(text_)); }

 private:
  static std::string_view trimmed(std::string_view s) {
    while (s.starts_with(' ')) s.remove_prefix(1);
    while (s.ends_with(' ')) s.remove_suffix(1);
    return s;
  }

  std::string expression(std::string_view s) const {
    std::string out;
    while (!s.empty()) {
      const auto stop = std::ranges::find_if_not(
          s, [&](char c) { return is_letter(c) || is_digit(c) || (c == '.' && is_digit(s[0])); });
      const std::string_view word = s.substr(0, static_cast<size_t>(stop - s.begin()));
      if (word.empty()) {
        out += s[0];
        s.remove_prefix(1);
        continue;
      }
      s.remove_prefix(word.size());
      out += is_digit(word[0]) ? number(word) : s.starts_with('(') ? function(word) : name(word);
    }
    return out;
  }

  std::string number(std::string_view word) const {
    double value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return literal(value, type_);
  }

  std::string function(std::string_view word) const {
    const auto* const f = std::ranges::find(kFunctions, word, &ElementFunction::name);
    if (f == std::end(kFunctions) || !(is_float(type_) ? f->floats : f->integers))
      fail(ErrorKind::internal, "source", "no function ", word, " of ", type_);
    return concat(word, "_", source_type(type_).suffix);
  }

  std::string name(std::string_view word) const {
    const size_t operand = static_cast<size_t>(word[0] - 'a');
    if (word.size() == 1 && word[0] >= 'a' && operand < operands_.size()) return operands_[operand];
    if (word.size() == 2 && word[0] == 'p' && word[1] >= '0' && word[1] <= '3')
      return literal(tile_.params[static_cast<size_t>(word[1] - '0')], type_);
    if (std::ranges::find(names_, word) == names_.end())
      fail(ErrorKind::internal, "source", "nothing is named ", word);
    return concat(result_, "_", word);
  }

  Tile tile_;
  std::string_view text_;  // what is left of the meaning
  std::span<const std::string> operands_;
  DType type_;
  std::string_view result_;
  std::vector<std::string_view> names_;
};

}  // namespace

std::span<const ElementFunction> element_functions() { return kFunctions; }

DType computed_type(DType t) { return is_half(t) ? DType::f32 : t; }

SourceType source_type(DType t) {
  switch (t) {
    case DType::boolean:
    case DType::u8: return {"uint8_t", "u8"};
    case DType::u16: return {"uint16_t", "u16"};
    case DType::u32: return {"uint32_t", "u32"};
    case DType::u64: return {"uint64_t", "u64"};
    case DType::i8: return {"int8_t", "i8"};
    case DType::i16: return {"int16_t", "i16"};
    case DType::i32: return {"int32_t", "i32"};
    case DType::i64: return {"int64_t", "i64"};
    case DType::f16: return {"uint16_t", "f16"};
    case DType::bf16: return {"uint16_t", "bf16"};
    case DType::f32: return {"float", "f32"};
    case DType::f64: return {"double", "f64"};
    default: fail(ErrorKind::unsupported, "source", "no element-wise source of ", t);
  }
}

std::string element_expression(std::string_view meaning, std::span<const std::string> operands, DType type) {
  return Meaning({nullptr, {}, meaning}, operands, type, "").last_expression();
}

std::string element_statements(const Tile& tile, std::span<const std::string> operands,
                               std::span<const DType> operand_types, std::string_view result, DType type) {
  if (tile.meaning.empty()) fail(ErrorKind::unsupported, "source", "an op does not say what it computes");
  Meaning meaning(tile, operands, computed_type(operand_types.empty() ? type : operand_types.back()), result);
  std::string out;
  for (std::string next = meaning.declaration(); !next.empty(); next = meaning.declaration()) out += next;
  std::string value = meaning.last_expression();
  if (is_half(type)) value = concat("round_", source_type(type).suffix, "(", value, ")");
  return concat(out, "const ", source_type(computed_type(type)).name, " ", result, " = ", value, ";\n");
}

std::string element_literal(const void* from, DType type) {
  const auto read = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (type) {
    case DType::i8: return integer_literal<int64_t>(read(int8_t{}));
    case DType::i16: return integer_literal<int64_t>(read(int16_t{}));
    case DType::i32: return integer_literal<int64_t>(read(int32_t{}));
    case DType::i64: return integer_literal(read(int64_t{}));
    case DType::u16: return integer_literal<uint64_t>(read(uint16_t{}));
    case DType::u32: return integer_literal<uint64_t>(read(uint32_t{}));
    case DType::u64: return integer_literal(read(uint64_t{}));
    case DType::f16: return real_literal(f16_to_float(read(uint16_t{})), "f");
    case DType::bf16: return real_literal(bf16_to_float(read(uint16_t{})), "f");
    case DType::f32: return real_literal(read(float{}), "f");
    case DType::f64: return real_literal(read(double{}), "");
    default: return integer_literal<uint64_t>(read(uint8_t{}));
  }
}

std::string load_element(const std::string& element, DType type) {
  return is_half(type) ? concat("widen_", source_type(type).suffix, "(", element, ")") : element;
}
std::string store_element(const std::string& value, DType type) {
  return is_half(type) ? concat("narrow_", source_type(type).suffix, "(", value, ")") : value;
}

}  // namespace plimsoll

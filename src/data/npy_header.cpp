#include "data/npy_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <vector>

#include "plimsoll/error.h"

static_assert(std::endian::native == std::endian::little, "files hold little-endian numbers");

namespace plimsoll::data {
namespace {

constexpr uint64_t kMostHeader = 1 << 20;  // far beyond what any shape needs

struct Descr {
  std::string_view text;  // without the byte order
  DType dtype;
};
constexpr std::array<Descr, 14> kDescrs = {{{"b1", DType::boolean},
                                            {"u1", DType::u8},
                                            {"u2", DType::u16},
                                            {"u4", DType::u32},
                                            {"u8", DType::u64},
                                            {"i1", DType::i8},
                                            {"i2", DType::i16},
                                            {"i4", DType::i32},
                                            {"i8", DType::i64},
                                            {"f2", DType::f16},
                                            {"f4", DType::f32},
                                            {"f8", DType::f64},
                                            {"c8", DType::c64},
                                            {"c16", DType::c128}}};

// The text is the repr of a Python dict with three keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void parse(NpyHeader& header) {
    expect('{');
    while (!take('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr")
        descr(header);
      else if (key == "fortran_order")
        header.fortran = truth();
      else if (key == "shape")
        shape(header);
      else
        bad("expected descr, fortran_order or shape");
      if (!take(',') && peek() != '}') bad("expected ',' or '}'");
    }
    if (keys_ != 7) bad("expected descr, fortran_order and shape");
  }

 private:
  [[noreturn]] void bad(std::string_view what) const {
    fail(ErrorKind::bad_file, name_, "the .npy header is damaged: ", what, " at character ", at_, " of '",
         text_.substr(0, 200), "'");
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) { return peek() == c && (++at_, true); }
  void expect(char c) {
    if (!take(c)) bad(std::string("expected '") + c + "'");
  }
  void seen(unsigned key) {
    if (keys_ & key) bad("a key that occurs twice");
    keys_ |= key;
  }

  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') bad("expected a string");
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) bad("a string that does not end");
    const std::string_view result = text_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }

  bool truth() {
    seen(2);
    peek();
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    bad("expected True or False");
  }

  void descr(NpyHeader& header) {
    seen(1);
    if (peek() == '[') {
      fail(ErrorKind::unsupported, name_,
           "records with named fields: expected one array per member, of numbers");
    }
    const std::string_view text = quoted();
    const bool ordered = !text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos;
    const std::string_view kind = text.substr(ordered ? 1 : 0);
    const auto* found =
        std::find_if(kDescrs.begin(), kDescrs.end(), [&](const Descr& d) { return d.text == kind; });
    if (found == kDescrs.end()) {
      fail(ErrorKind::unsupported, name_, "expected numbers or bool, got elements of NumPy's type '", text,
           kind.substr(0, 1) == "O" ? "' (Python objects, which only Python can read)" : "'");
    }
    header.type.dtype = found->dtype;
    header.swapped = text[0] == '>' && size_of(found->dtype) > 1;
  }

  void shape(NpyHeader& header) {
    seen(4);
    expect('(');
    std::vector<int64_t> sizes;
    while (!take(')')) {
      peek();
      int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) bad("expected the size of an axis");
      at_ = static_cast<size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote it
      sizes.push_back(size);
      if (!take(',') && peek() != ')') bad("expected ',' or ')'");
    }
    if (sizes.size() > Shape::kMaxRank) {
      fail(ErrorKind::unsupported, name_, "expected at most ", Shape::kMaxRank, " axes, got ", sizes.size());
    }
    try {
      header.type.shape = Shape(sizes);
    } catch (const Error&) {
      bad("a shape too large for any machine");
    }
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  unsigned keys_ = 0;  // bits of the keys seen
};

void check_size(const NpyHeader& header, uint64_t size, const std::string& name) {
  int64_t bytes = 0;
  try {
    bytes = byte_size(header.type.dtype, header.type.shape);
  } catch (const Error&) {
    fail(ErrorKind::bad_file, name, "the .npy header promises ", header.type, ", too large for any machine");
  }
  if (static_cast<uint64_t>(bytes) > size - header.offset) {
    fail(ErrorKind::bad_file, name, "expected ", bytes, " bytes for ", header.type, " at byte ",
         header.offset, ", got ", size - header.offset, ": cut off or damaged");
  }
}

}  // namespace

NpyHeader read_npy_header(ByteStream& stream, const std::string& name) {
  std::array<unsigned char, 12> start{};
  if (stream.size() < 10)
    fail(ErrorKind::bad_file, name, "expected a .npy array, got ", stream.size(), " bytes");
  stream.read(start.data(), 8);
  if (std::string_view(reinterpret_cast<const char*>(start.data()), 6) != "\x93NUMPY") {
    fail(ErrorKind::bad_file, name, "expected a .npy array, got bytes that do not begin with its mark");
  }
  if (start[6] < 1 || start[6] > 3) {
    fail(ErrorKind::unsupported, name, "expected .npy format 1, 2 or 3, got ", static_cast<int>(start[6]));
  }
  const unsigned width = start[6] == 1 ? 2 : 4;
  NpyHeader header;
  header.offset = 8 + width;
  if (header.offset > stream.size()) fail(ErrorKind::bad_file, name, "cut off inside the .npy header");
  stream.read(start.data() + 8, width);
  uint64_t length = 0;
  for (unsigned i = 0; i < width; ++i) length |= uint64_t{start[8 + i]} << (8 * i);
  if (length > kMostHeader || length > stream.size() - header.offset) {
    fail(ErrorKind::bad_file, name, "a .npy header of ", length, " bytes at byte ", header.offset, " of ",
         stream.size(), ": cut off or damaged");
  }
  std::string text(length, '\0');
  stream.read(text.data(), length);
  header.offset += length;
  HeaderParser(text, name).parse(header);
  if (header.type.shape.rank() < 2) header.fortran = false;
  check_size(header, stream.size(), name);
  return header;
}

std::string npy_header(const TensorType& type) {
  const auto* found =
      std::find_if(kDescrs.begin(), kDescrs.end(), [&](const Descr& d) { return d.dtype == type.dtype; });
  require(found != kDescrs.end(), "write_npy", "NumPy has no ", type.dtype);
  std::string shape;
  for (const int64_t size : type.shape) shape += std::to_string(size) + (type.shape.rank() == 1 ? "," : ", ");
  if (type.shape.rank() > 1) shape.resize(shape.size() - 2);
  std::string text = concat("{'descr': '", size_of(type.dtype) > 1 ? "<" : "|", found->text,
                            "', 'fortran_order': False, 'shape': (", shape, "), }");
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

void swap_bytes(DType dtype, void* elements, int64_t count) {
  const size_t size = is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype);
  auto* at = static_cast<char*>(elements);
  for (int64_t i = is_complex(dtype) ? 2 * count : count; i > 0; --i, at += size) std::reverse(at, at + size);
}

}  // namespace plimsoll::data

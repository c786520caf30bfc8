// Follows Python/marshal.c.
#include "doctor/python/pyc.h"

#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr uint64_t kHeader = 16;
constexpr int kDeepest = 2000;  // as marshal.c bounds it

class Walker {
 public:
  Walker(Bytes data, unsigned minor) : data_(data), minor_(minor) {}

  // Throws Error{bad_file} where the data end too early or cannot be.
  void object(int depth = 0) {
    if (depth > kDeepest) garbled();
    const auto type = static_cast<char>(data_.u8(take(1)) & 0x7f);
    switch (type) {
      case '0':
      case 'N':
      case 'F':
      case 'T':
      case 'S':
      case '.': return;
      case 'i':
      case 'r': take(4); return;
      case 'I':
      case 'g': take(8); return;
      case 'y': take(16); return;
      case 'f': take(data_.u8(take(1))); return;
      case 'x': take(data_.u8(take(1))), take(data_.u8(take(1))); return;
      case 'l': number(); return;
      case 's':
      case 'u':
      case 'a':
      case 'A':
      case 't': take(size()); return;
      case 'z':
      case 'Z': take(data_.u8(take(1))); return;
      case ')': objects(data_.u8(take(1)), depth); return;
      case '(':
      case '[':
      case '<':
      case '>': objects(size(), depth); return;
      case ':': objects(3, depth); return;
      case '{': pairs(depth); return;
      case 'c': code(depth); return;
      default: garbled();
    }
  }

 private:
  [[noreturn]] static void garbled() { fail(ErrorKind::bad_file, "pyc", "no marshalled object"); }

  // Where the next `length` bytes are.
  uint64_t take(uint64_t length) {
    const uint64_t at = at_;
    if (!data_.has(at, length)) fail(ErrorKind::bad_file, "pyc", "the file ends too early");
    at_ += length;
    return at;
  }
  uint64_t size() { return data_.u32(take(4)); }
  void number() {
    const auto digits = static_cast<int32_t>(data_.u32(take(4)));
    take(2 * static_cast<uint64_t>(digits < 0 ? -static_cast<int64_t>(digits) : digits));
  }
  void objects(uint64_t count, int depth) {
    for (uint64_t i = 0; i < count; ++i) object(depth + 1);
  }
  void pairs(int depth) {
    while ((data_.u8(at_) & 0x7f) != '0') objects(2, depth);
    take(1);
  }
  void code(int depth) {
    const bool newer = minor_ >= 11;
    take(newer ? 20 : 24);
    objects(8, depth);
    take(4);
    objects(newer ? 2 : 1, depth);
  }

  Bytes data_;
  unsigned minor_;
  uint64_t at_ = 0;
};

}  // namespace

PycHeader read_pyc_header(Bytes file) { return {file.u32(0), file.u32(4), file.u32(8), file.u32(12)}; }

bool is_whole_pyc(Bytes file, unsigned minor) {
  if (minor < 8 || minor > 14) return true;
  try {
    Walker(file.from(kHeader), minor).object();
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace plimsoll::doctor

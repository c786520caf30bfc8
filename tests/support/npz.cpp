#include "support/npz.h"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <stdexcept>

namespace plimsoll::testing {
namespace {

using Bytes = std::vector<unsigned char>;
using View = std::span<const unsigned char>;

[[noreturn]] void bad(const std::string& what) { throw std::runtime_error("npz: " + what); }

uint64_t little(View bytes, size_t at, size_t size) {
  if (at + size > bytes.size()) bad("file ends too early");
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(bytes[at + i]) << (8 * i);
  return value;
}

Bytes inflate_raw(View packed, size_t size) {
  Bytes out(size);
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) bad("zlib does not start");
  z.next_in = const_cast<unsigned char*>(packed.data());
  z.avail_in = static_cast<unsigned>(packed.size());
  z.next_out = out.data();
  z.avail_out = static_cast<unsigned>(size);
  const int status = inflate(&z, Z_FINISH);
  const bool whole = status == Z_STREAM_END && z.total_out == size;
  inflateEnd(&z);
  if (!whole) bad("a compressed member is damaged");
  return out;
}

std::string match(const std::string& header, const char* pattern) {
  std::smatch found;
  if (!std::regex_search(header, found, std::regex(pattern))) bad("cannot read the header " + header);
  return found[1];
}

NpyArray parse_npy(const Bytes& file) {
  if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0) bad("a member is no .npy array");
  const size_t size_bytes = file[6] == 1 ? 2 : 4;
  const auto header_size = static_cast<size_t>(little(file, 8, size_bytes));
  const size_t start = 8 + size_bytes + header_size;
  if (start > file.size()) bad("a member ends inside its header");
  const std::string header(file.begin() + static_cast<ptrdiff_t>(8 + size_bytes),
                           file.begin() + static_cast<ptrdiff_t>(start));
  if (match(header, "'fortran_order': *(\\w+)") != "False") bad("an array is in Fortran order");
  NpyArray array;
  array.type = match(header, "'descr': *'([^']+)'");
  const std::string shape = match(header, "'shape': *\\(([^)]*)\\)");
  const std::regex number("\\d+");
  for (auto it = std::sregex_iterator(shape.begin(), shape.end(), number); it != std::sregex_iterator();
       ++it) {
    array.shape.push_back(std::stoll(it->str()));
  }
  array.bytes.assign(file.begin() + static_cast<ptrdiff_t>(start), file.end());
  return array;
}

}  // namespace

int64_t NpyArray::elements() const {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

void NpyArray::check_item_size(size_t bytes_per_item) const {
  if (bytes.size() != static_cast<size_t>(elements()) * bytes_per_item)
    bad("array of " + type + " read as another type");
}

std::map<std::string, NpyArray> read_npz(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) bad("cannot open " + path);
  const Bytes file{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (file.size() < 22) bad(path + " is too short");
  size_t end = file.size() - 22;  // the end record; behind it only a comment
  while (little(file, end, 4) != 0x06054B50u) {
    if (end-- == 0) bad(path + " is no zip file");
  }
  std::map<std::string, NpyArray> arrays;
  size_t at = little(file, end + 16, 4);
  for (uint64_t left = little(file, end + 10, 2); left > 0; --left) {
    if (little(file, at, 4) != 0x02014B50u) bad("the directory is damaged");
    const uint64_t method = little(file, at + 10, 2);
    const size_t packed_size = little(file, at + 20, 4);
    const size_t size = little(file, at + 24, 4);
    const size_t name_size = little(file, at + 28, 2);
    const size_t local = little(file, at + 42, 4);
    if (at + 46 + name_size > file.size()) bad("the directory is cut off");
    std::string name(file.begin() + static_cast<ptrdiff_t>(at + 46),
                     file.begin() + static_cast<ptrdiff_t>(at + 46 + name_size));
    const size_t data = local + 30 + little(file, local + 26, 2) + little(file, local + 28, 2);
    if (data + packed_size > file.size()) bad(name + " is cut off");
    const View packed = View(file).subspan(data, packed_size);
    if (method != 0 && method != 8) bad(name + " has an unknown compression");
    const Bytes member = method == 8 ? inflate_raw(packed, size) : Bytes(packed.begin(), packed.end());
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    arrays.emplace(std::move(name), parse_npy(member));
    at += 46 + name_size + little(file, at + 30, 2) + little(file, at + 32, 2);
  }
  return arrays;
}

}  // namespace plimsoll::testing

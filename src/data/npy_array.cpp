#include "data/npy_array.h"

#include <cstring>

#include "memory/addresses.h"
#include "memory/buffer.h"
#include "plimsoll/error.h"
#include "plimsoll/planning.h"

namespace plimsoll::data {
namespace {

// Elements in Fortran order to C order.
Tensor to_c_order(const Tensor& from, const Shape& shape, Owner owner) {
  Tensor to(from.dtype(), shape, Buffer::make(byte_size(from.dtype(), shape), owner));
  const size_t size = size_of(from.dtype());
  const char* source = static_cast<const char*>(from.data());
  char* target = static_cast<char*>(to.data());
  std::array<int64_t, Shape::kMaxRank> at{};
  for (int64_t i = 0; i < shape.elements(); ++i) {
    int64_t offset = 0;
    for (int axis = shape.rank(); axis-- > 0;) offset = offset * shape[axis] + at[static_cast<size_t>(axis)];
    std::memcpy(target, source + static_cast<size_t>(offset) * size, size);
    target += size;
    for (int axis = shape.rank(); axis-- > 0;) {
      if (++at[static_cast<size_t>(axis)] < shape[axis]) break;
      at[static_cast<size_t>(axis)] = 0;
    }
  }
  return to;
}

constexpr std::string_view kSuffix = ".npy";

}  // namespace

NpyArray::NpyArray(FileSource file, std::shared_ptr<const ZipReader> zip, const ZipReader::Member* member)
    : file_(std::move(file)), zip_(std::move(zip)), member_(member) {
  header_ = read_npy_header(*whole(), name());
}

NpyArray NpyArray::open(FileSource file) { return NpyArray(std::move(file), nullptr, nullptr); }

NpyArray NpyArray::open(std::shared_ptr<const ZipReader> zip, const ZipReader::Member& member) {
  FileSource file = zip->packed(member, INT64_MAX);
  return NpyArray(std::move(file), std::move(zip), &member);
}

std::unique_ptr<ByteStream> NpyArray::whole() const {
  return member_ != nullptr ? open_stream(*zip_, *member_) : open_stream(file_);
}

FileSource NpyArray::elements() const {
  return file_.part(header_.offset, static_cast<uint64_t>(bytes()), name());
}

std::unique_ptr<ByteStream> NpyArray::stream() const {
  if (!compressed()) return open_stream(elements());
  auto stream = whole();
  read_npy_header(*stream, name());
  return stream;
}

Tensor NpyArray::load(Owner owner) const {
  if (Outline::active()) return Tensor(type().dtype, type().shape, addresses(bytes()));
  Tensor t(type().dtype, type().shape, Buffer::make(bytes(), owner));
  stream()->read(t.data(), static_cast<uint64_t>(bytes()));
  if (header_.swapped) swap_bytes(t.dtype(), t.data(), t.shape().elements());
  return header_.fortran ? to_c_order(t, type().shape, owner) : t;
}

std::shared_ptr<const ZipReader> open_npz(FileSource file) {
  return std::make_shared<ZipReader>(std::move(file));
}

std::string array_name(const ZipReader::Member& member) {
  const std::string& name = member.name;
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

NpyArray open_array(const std::shared_ptr<const ZipReader>& zip, const std::string& path,
                    const std::string& name) {
  std::string there;
  for (const ZipReader::Member& member : zip->members()) {
    if (array_name(member) == name) return NpyArray::open(zip, member);
    there += concat(there.empty() ? "" : ", ", "'", array_name(member), "'");
  }
  fail(ErrorKind::not_found, path, "expected an array named '", name, "', got ",
       there.empty() ? "none" : there);
}

}  // namespace plimsoll::data

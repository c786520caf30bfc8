#include "keras_io/h5_writer.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "h5/wire.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

using h5::wire::Record;

// What Keras leaves free in an object header of 64 KiB.
constexpr size_t kMostAttribute = 64512;

Fd emptied(const std::filesystem::path& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0)
    fail(ErrorKind::io, path.string(), "cannot be written: ", std::string_view(std::strerror(errno)));
  return file;
}

}  // namespace

H5Writer::H5Writer(const std::filesystem::path& path)
    : place_(path.string()),
      file_(emptied(path)),
      process_({place_, ErrorKind::io, "writing"}, {"write", place_}, -1) {}

void H5Writer::close() {
  process_.put(Record::last);
  process_.expect_ok();
}

void H5Writer::group(std::string_view path) {
  process_.put(Record::group);
  process_.put_text(path);
}

void H5Writer::attribute(std::string_view at, const std::string& name, std::string_view text) {
  process_.put(Record::text);
  process_.put_text(at);
  process_.put_text(name);
  process_.put_text(text);
}

void H5Writer::attribute(std::string_view at, const std::string& name, int64_t number) {
  process_.put(Record::integer);
  process_.put_text(at);
  process_.put_text(name);
  process_.put(number);
}

void H5Writer::attribute(std::string_view at, const std::string& name,
                         const std::vector<std::string>& texts) {
  size_t width = 1;
  for (const std::string& t : texts) width = std::max(width, t.size());
  require(width <= kMostAttribute, place_, "a name of ", width, " characters is too long for HDF5");
  const size_t at_once = kMostAttribute / width;
  if (texts.size() <= at_once) return write_texts(at, name, texts, width);
  for (size_t from = 0, part = 0; from < texts.size(); from += at_once, ++part) {
    const size_t to = std::min(texts.size(), from + at_once);
    write_texts(at, concat(name, part),
                {texts.begin() + static_cast<ptrdiff_t>(from), texts.begin() + static_cast<ptrdiff_t>(to)},
                width);
  }
}

void H5Writer::write_texts(std::string_view at, const std::string& name,
                           const std::vector<std::string>& texts, size_t width) {
  process_.put(Record::texts);
  process_.put_text(at);
  process_.put_text(name);
  process_.put(static_cast<uint32_t>(width));
  process_.put(static_cast<uint32_t>(texts.size()));
  for (const std::string& t : texts) {
    const std::string padded = t + std::string(width - t.size(), '\0');
    process_.write(padded.data(), width);
  }
}

void H5Writer::dataset(std::string_view path, const TensorType& type, const void* values) {
  process_.put(Record::dataset);
  process_.put_text(path);
  process_.put(type.dtype);
  process_.put(static_cast<uint8_t>(type.shape.rank()));
  for (const int64_t size : type.shape) process_.put(static_cast<uint64_t>(size));
  process_.expect_ok();
  const uint64_t offset = process_.number<uint64_t>();
  const uint64_t bytes = static_cast<uint64_t>(byte_size(type.dtype, type.shape));
  if (bytes > 0 && offset == h5::wire::kNowhere) process_.misspoke();
  if (!write_at(file_.get(), values, bytes, offset))
    fail(ErrorKind::io, place_, "cannot write ", path, ": ", std::string_view(std::strerror(errno)));
  if (type.dtype == DType::bf16) attribute(path, "dtype", std::string_view("bfloat16"));
}

}  // namespace plimsoll::keras_io

#include "keras_io/h5_tree.h"

#include <algorithm>
#include <cstring>

#include "keras_io/h5_reader.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

template <class List>
auto* find_in(const List& list, std::string_view name) {
  const auto found = std::lower_bound(list.begin(), list.end(), name,
                                      [](const auto& entry, std::string_view n) { return entry.name < n; });
  return found == list.end() || found->name != name ? nullptr : &found->value;
}

// A byte that is neither 0 nor 1 is no bool to C++.
void make_booleans(void* values, int64_t count) {
  unsigned char* at = static_cast<unsigned char*>(values);
  std::for_each(at, at + count, [](unsigned char& b) { b = b != 0; });
}

}  // namespace

const H5Group* H5Group::group(std::string_view path) const {
  const H5Group* at = this;
  while (at && !path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) at = find_in(at->groups, path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return at;
}

const H5Dataset* H5Group::dataset(std::string_view path) const {
  const size_t slash = path.rfind('/');
  const H5Group* parent = slash == std::string_view::npos ? this : group(path.substr(0, slash));
  return parent ? find_in(parent->datasets, path.substr(slash + 1)) : nullptr;
}

const std::string* H5Group::text(std::string_view attribute) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || found->second.texts.size() != 1 ? nullptr : &found->second.texts[0];
}

std::vector<std::string> H5Group::texts(std::string_view attribute) const {
  if (const auto whole = attributes.find(attribute); whole != attributes.end()) return whole->second.texts;
  std::vector<std::string> all;
  for (int part = 0;; ++part) {
    const auto found = attributes.find(concat(attribute, part));
    if (found == attributes.end()) return all;
    all.insert(all.end(), found->second.texts.begin(), found->second.texts.end());
  }
}

bool H5File::looks_like(const FileSource& source) {
  constexpr std::string_view kMark("\x89HDF\r\n\x1a\n", 8);
  // The mark stands at 0, or behind a block of the user's of 512, 1024, ... bytes.
  for (uint64_t at = 0; at + kMark.size() <= source.size(); at = at == 0 ? 512 : 2 * at) {
    if (source.text(at, kMark.size()) == kMark) return true;
  }
  return false;
}

H5File H5File::read(const FileSource& source) {
  if (!looks_like(source)) {
    fail(ErrorKind::bad_file, source.name(), "expected an HDF5 file, got ", source.size(),
         " bytes of something else");
  }
  return H5File(source, read_h5_tree(source));
}

void H5File::read(const H5Dataset& dataset, void* into) const {
  if (!dataset.has_numbers())
    fail(ErrorKind::bad_file, name(), "expected a dataset of numbers: ", dataset.without_numbers());
  const int64_t bytes = byte_size(dataset.type.dtype, dataset.type.shape);
  if (dataset.place == wire::Place::stream)
    std::memcpy(into, dataset.values.data(), static_cast<size_t>(bytes));
  else
    source_.read(dataset.offset, into, static_cast<uint64_t>(bytes));
  if (dataset.type.dtype == DType::boolean) make_booleans(into, bytes);
}

Tensor H5File::read(const H5Dataset& dataset) const {
  Tensor values = Tensor::empty(dataset.type.dtype, dataset.type.shape);
  read(dataset, values.data());
  return values;
}

}  // namespace plimsoll::keras_io

// H5File: what an HDF5 file holds, as a plain tree, read without trust: libhdf5 runs in a process of its own
// under limits (h5_reader.h), and only names, attributes and the places of data come back. Large data stays
// in the file until read() copies it straight to where it belongs. Immutable once read; may be read from
// several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/file_source.h"
#include "h5/wire.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras_io {

namespace wire = h5::wire;

struct H5Attribute {
  wire::Kind kind = wire::Kind::other;  // other: of a type that no model needs; empty
  bool is_array = false;
  std::vector<std::string> texts;
  std::vector<double> numbers;
};
using H5Attributes = std::map<std::string, H5Attribute, std::less<>>;

struct H5Dataset {
  wire::Kind kind = wire::Kind::other;
  TensorType type;  // of numbers
  wire::Place place = wire::Place::none;
  uint64_t offset = 0;  // at Place::file
  Tensor values;        // at Place::stream
  std::vector<std::string> texts;
  std::string why_not;  // at Place::none
  H5Attributes attributes;

  bool has_numbers() const { return kind == wire::Kind::number && place != wire::Place::none; }
  // What it is if it has none.
  std::string without_numbers() const { return why_not.empty() ? "it is text" : why_not; }
};

template <class T>
struct H5Named {
  std::string name;
  T value;
};

struct H5Group {
  H5Attributes attributes;
  std::vector<H5Named<H5Group>> groups;  // by name
  std::vector<H5Named<H5Dataset>> datasets;

  // Paths as in "layers/dense/vars"; nullptr if there is no such thing.
  const H5Group* group(std::string_view path) const;
  const H5Dataset* dataset(std::string_view path) const;
  // The one text of an attribute; nullptr if there is none.
  const std::string* text(std::string_view attribute) const;
  // The texts of an attribute that Keras may have cut into attribute0, attribute1, ... because of its size.
  // Empty if there is none.
  std::vector<std::string> texts(std::string_view attribute) const;
};

class H5File {
 public:
  // `root` is what is known to be in `source`.
  H5File(FileSource source, H5Group root) : source_(std::move(source)), root_(std::move(root)) {}
  // Throws Error{bad_file} with the place if libhdf5 cannot read it, crashes, hangs or wants too much memory;
  // Error{not_found} if the process for it is not installed.
  static H5File read(const FileSource& source);
  static H5File read(const std::filesystem::path& path) { return read(FileSource::open(path)); }
  static bool looks_like(const FileSource& source);

  const H5Group& root() const { return root_; }
  const std::string& name() const { return source_.name(); }
  // Copies the numbers of a dataset of this file to `into`, which holds byte_size() of its type.
  // Throws Error{bad_file} if it has no numbers.
  void read(const H5Dataset& dataset, void* into) const;
  Tensor read(const H5Dataset& dataset) const;

 private:
  FileSource source_;
  H5Group root_;
};

}  // namespace plimsoll::keras_io

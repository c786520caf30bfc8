// H5Writer writes an HDF5 file as h5py, and so Keras, writes it: the same types, contiguous data. plimsoll-h5
// (h5/process.h) lays the file out; the bytes of data sets are written here, to their places. The file is
// made beside and put in place by the caller (common/files.h). Not for several threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "h5/process.h"
#include "plimsoll/contents.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras_io {

class H5Writer {
 public:
  // Empties the file at `path`. All functions throw Error{io} naming what could not be written; what goes
  // wrong with groups and attributes may be told by the next dataset() or by close().
  explicit H5Writer(const std::filesystem::path& path);

  // Paths as in "layers/dense/vars"; "" is the root. Groups on the way are made; one that is there stays.
  void group(std::string_view path);
  // `at`: a group or dataset that is there.
  void attribute(std::string_view at, const std::string& name, std::string_view text);
  void attribute(std::string_view at, const std::string& name, int64_t number);
  // Texts of fixed length; more than an object header holds are cut into name0, name1, ... as Keras does.
  void attribute(std::string_view at, const std::string& name, const std::vector<std::string>& texts);
  // Dense values, row by row. A bfloat16 gets the attribute that Keras tells it by.
  void dataset(std::string_view path, const TensorType& type, const void* values);
  void dataset(std::string_view path, const Tensor& values) {
    dataset(path, values.type(), read_bytes(values));
  }
  void close();

 private:
  void write_texts(std::string_view at, const std::string& name, const std::vector<std::string>& texts,
                   size_t width);

  std::string place_;
  Fd file_;
  h5::Process process_;
};

}  // namespace plimsoll::keras_io

// Arrays in NumPy's file formats, and CSV, as tensors. What is read is charged to the account; all sizes of a
// file are checked before anything is allocated. Writing is atomic: under another name, synced, then renamed;
// a failure or a kill leaves the old file or the new one. Functions throw Error{not_found}, {io}, {bad_file}
// with file and place, and {unsupported} for element types that have no DType (text, objects, dates).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct NamedTensors : std::vector<std::pair<std::string, Tensor>> {
  using std::vector<std::pair<std::string, Tensor>>::vector;
  using std::vector<std::pair<std::string, Tensor>>::operator[];
  const std::pair<std::string, Tensor>& operator[](int i) const {
    return (*this)[static_cast<size_t>(i)];
  }  // 0 is no name
  // read_npz(path)["x_train"]. Throws Error{not_found} that lists the names there are, the nearest first.
  const Tensor& operator[](std::string_view name) const;
  const Tensor& operator[](const char* name) const { return (*this)[std::string_view(name)]; }
};
using NamedTypes = std::vector<std::pair<std::string, TensorType>>;

Tensor read_npy(const std::string& path);
// Members in the order of the file, names without ".npy".
NamedTensors read_npz(const std::string& path);
// The same from the headers alone.
NamedTypes npz_types(const std::string& path);

// bfloat16 becomes float32, which NumPy can read.
void write_npy(const std::string& path, const Tensor& array);
void write_npz(const std::string& path, const NamedTensors& arrays);  // not compressed, as np.savez
// One row per record, one column per element of a record; a header line if there are column names, as many as
// columns. Numbers are written so that they read back exactly.
void write_csv(const std::string& path, const Tensor& array, const std::vector<std::string>& columns = {});

}  // namespace plimsoll
#pragma GCC visibility pop

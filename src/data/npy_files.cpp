// The functions of plimsoll/npy.h but CSV.
#include "common/files.h"
#include "common/half.h"
#include "common/names.h"
#include "common/zip_writer.h"
#include "data/npy_array.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

namespace plimsoll {
namespace {

std::string_view bytes_of(const Tensor& t) {
  return {static_cast<const char*>(t.data()), static_cast<size_t>(byte_size(t.dtype(), t.shape()))};
}

Tensor for_numpy(const Tensor& t) {
  require(t.defined() && !t.is_symbolic(), "write_npy", "expected a concrete tensor");
  if (t.dtype() != DType::bf16) return t;
  Tensor wide = Tensor::empty(DType::f32, t.shape());
  const auto* from = static_cast<const uint16_t*>(t.data());
  for (int64_t i = 0; i < t.shape().elements(); ++i) wide.data<float>()[i] = bf16_to_float(from[i]);
  return wide;
}

}  // namespace

const Tensor& NamedTensors::operator[](std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [given, tensor] : *this) {
    if (given == name) return tensor;
    names.push_back(given);
  }
  fail(ErrorKind::not_found, "arrays", "there is no '", name,
       "'; there are: ", nearest_first(name, std::move(names)));
}

Tensor read_npy(const std::string& path) {
  return data::NpyArray::open(FileSource::open(path)).load(Owner::tensors);
}

NamedTensors read_npz(const std::string& path) {
  const auto zip = data::open_npz(FileSource::open(path));
  NamedTensors all;
  for (const ZipReader::Member& member : zip->members()) {
    all.emplace_back(data::array_name(member), data::NpyArray::open(zip, member).load(Owner::tensors));
  }
  return all;
}

NamedTypes npz_types(const std::string& path) {
  const auto zip = data::open_npz(FileSource::open(path));
  NamedTypes all;
  for (const ZipReader::Member& member : zip->members()) {
    all.emplace_back(data::array_name(member), data::NpyArray::open(zip, member).type());
  }
  return all;
}

void write_npy(const std::string& path, const Tensor& array) {
  const Tensor t = for_numpy(array);
  const std::string header = data::npy_header(t.type());
  write_atomically(path, [&](NewFile& file) {
    file.write(header.data(), header.size());
    file.write(t.data(), bytes_of(t).size());
  });
}

void write_npz(const std::string& path, const NamedTensors& arrays) {
  write_atomically(path, [&](NewFile& file) {
    ZipWriter zip(file);
    for (const auto& [name, array] : arrays) {
      const Tensor t = for_numpy(array);
      zip.add(name + ".npy", std::vector<std::string_view>{data::npy_header(t.type()), bytes_of(t)});
    }
    zip.finish();
  });
}

}  // namespace plimsoll

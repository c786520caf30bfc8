#include "keras_io/h5_writer.h"

#include <algorithm>
#include <utility>

#include "common/h5_handle.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

// What Keras leaves free in an object header of 64 KiB.
constexpr size_t kMostAttribute = 64512;

hid_t standard_type(DType dtype) {
  switch (dtype) {
    case DType::u8: return H5T_NATIVE_UINT8;
    case DType::u16: return H5T_NATIVE_UINT16;
    case DType::u32: return H5T_NATIVE_UINT32;
    case DType::u64: return H5T_NATIVE_UINT64;
    case DType::i8: return H5T_NATIVE_INT8;
    case DType::i16: return H5T_NATIVE_INT16;
    case DType::i32: return H5T_NATIVE_INT32;
    case DType::i64: return H5T_NATIVE_INT64;
    case DType::f32: return H5T_NATIVE_FLOAT;
    case DType::f64: return H5T_NATIVE_DOUBLE;
    default: return -1;
  }
}

hid_t make_half() {
  const hid_t type = H5Tcopy(H5T_NATIVE_FLOAT);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

hid_t make_boolean() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  const int8_t no = 0, yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

hid_t make_type(DType dtype) {
  if (dtype == DType::f16) return make_half();
  if (dtype == DType::boolean) return make_boolean();
  if (dtype == DType::bf16) return H5Tcreate(H5T_OPAQUE, 2);
  return H5Tcopy(standard_type(dtype));
}

std::string path_of(std::string_view at) { return at.empty() ? "/" : std::string(at); }

// Groups on the way to `path` come into being with it.
hid_t making_groups() {
  const hid_t plan = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(plan, 1);
  return plan;
}

bool write_attribute(hid_t file, std::string_view at, const std::string& name, hid_t type, hid_t space,
                     const void* value) {
  const H5Handle object(H5Oopen(file, path_of(at).c_str(), H5P_DEFAULT), H5Oclose);
  if (!object) return false;
  const H5Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute && H5Awrite(attribute, type, value) >= 0;
}

}  // namespace

H5Writer::H5Writer(const std::filesystem::path& path) : place_(path.string()) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file_ < 0) fail(ErrorKind::io, place_, "libhdf5 cannot make a file there");
}

H5Writer::~H5Writer() {
  if (file_ >= 0) H5Fclose(file_);
}

void H5Writer::close() {
  const hid_t file = std::exchange(file_, -1);
  if (H5Fclose(file) < 0) fail(ErrorKind::io, place_, "libhdf5 cannot finish the file: is the disk full?");
}

void H5Writer::group(std::string_view path) {
  size_t end = 0;
  while (end < path.size()) {
    end = std::min(path.find('/', end + 1), path.size());
    const std::string upto(path.substr(0, end));
    if (H5Lexists(file_, upto.c_str(), H5P_DEFAULT) > 0) continue;
    const H5Handle made(H5Gcreate2(file_, upto.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    if (!made) fail(ErrorKind::io, place_, "libhdf5 cannot make the group ", upto);
  }
}

void H5Writer::attribute(std::string_view at, const std::string& name, std::string_view text) {
  const H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const std::string ended(text);
  const char* value = ended.c_str();
  if (!write_attribute(file_, at, name, type, space, &value)) {
    fail(ErrorKind::io, place_, "libhdf5 cannot write the attribute ", name, " of ", path_of(at));
  }
}

void H5Writer::attribute(std::string_view at, const std::string& name, int64_t number) {
  const H5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  if (!write_attribute(file_, at, name, H5T_NATIVE_INT64, space, &number)) {
    fail(ErrorKind::io, place_, "libhdf5 cannot write the attribute ", name, " of ", path_of(at));
  }
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
  std::string bytes;
  for (const std::string& t : texts) bytes += t + std::string(width - t.size(), '\0');
  const hsize_t count = texts.size();
  const H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  H5Tset_size(type, width);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  if (!write_attribute(file_, at, name, type, space, bytes.data())) {
    fail(ErrorKind::io, place_, "libhdf5 cannot write the attribute ", name, " of ", path_of(at));
  }
}

void H5Writer::dataset(std::string_view path, const TensorType& type, const void* values) {
  const H5Handle stored(make_type(type.dtype), H5Tclose);
  if (!stored) fail(ErrorKind::unsupported, place_, "HDF5 files of Keras hold no ", type.dtype, ": ", path);
  std::vector<hsize_t> dims(type.shape.begin(), type.shape.end());
  const H5Handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
  const H5Handle groups(making_groups(), H5Pclose);
  const H5Handle made(
      H5Dcreate2(file_, std::string(path).c_str(), stored, space, groups, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose);
  if (!made ||
      (type.shape.elements() > 0 && H5Dwrite(made, stored, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)) {
    fail(ErrorKind::io, place_, "libhdf5 cannot write ", path, ": is the disk full?");
  }
  if (type.dtype == DType::bf16) attribute(path, "dtype", std::string_view("bfloat16"));
}

}  // namespace plimsoll::keras_io

#include "h5/program/write.h"

#include <hdf5.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "h5/program/handle.h"
#include "h5/program/input.h"
#include "h5/program/output.h"
#include "h5/program/refused.h"
#include "plimsoll/dtype.h"

namespace plimsoll::h5 {
namespace {

using wire::Answer;
using wire::Record;

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

// As h5py stores them; Keras tells bfloat16 by an attribute.
hid_t make_type(DType dtype) {
  switch (dtype) {
    case DType::boolean: return make_boolean();
    case DType::u8: return H5Tcopy(H5T_NATIVE_UINT8);
    case DType::u16: return H5Tcopy(H5T_NATIVE_UINT16);
    case DType::u32: return H5Tcopy(H5T_NATIVE_UINT32);
    case DType::u64: return H5Tcopy(H5T_NATIVE_UINT64);
    case DType::i8: return H5Tcopy(H5T_NATIVE_INT8);
    case DType::i16: return H5Tcopy(H5T_NATIVE_INT16);
    case DType::i32: return H5Tcopy(H5T_NATIVE_INT32);
    case DType::i64: return H5Tcopy(H5T_NATIVE_INT64);
    case DType::f16: return make_half();
    case DType::bf16: return H5Tcreate(H5T_OPAQUE, 2);
    case DType::f32: return H5Tcopy(H5T_NATIVE_FLOAT);
    case DType::f64: return H5Tcopy(H5T_NATIVE_DOUBLE);
    default: return -1;
  }
}

std::string path_of(const std::string& at) { return at.empty() ? "/" : at; }

// Closed by close() alone: what was not finished is not worth a disk's time.
class Writer {
 public:
  explicit Writer(const char* path)
      : file_(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
        groups_(H5Pcreate(H5P_LINK_CREATE), H5Pclose),
        layout_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
    if (file_ < 0) throw Refused("libhdf5 cannot make a file there" + innermost_error());
    H5Pset_create_intermediate_group(groups_, 1);
    // Room is made at once, and left for the caller to fill.
    H5Pset_alloc_time(layout_, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(layout_, H5D_FILL_TIME_NEVER);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void close() {
    if (H5Fclose(std::exchange(file_, -1)) < 0)
      throw Refused("libhdf5 cannot finish the file: is the disk full?");
  }

  void group(const std::string& path) {
    for (size_t end = 0; end < path.size();) {
      end = std::min(path.find('/', end + 1), path.size());
      const std::string upto = path.substr(0, end);
      if (H5Lexists(file_, upto.c_str(), H5P_DEFAULT) > 0) continue;
      const Handle made(H5Gcreate2(file_, upto.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      if (!made) throw Refused("libhdf5 cannot make the group " + upto + innermost_error());
    }
  }

  void text(const std::string& at, const std::string& name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate(H5S_SCALAR), H5Sclose);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const char* value = text.c_str();
    attribute(at, name, type, space, &value);
  }

  void integer(const std::string& at, const std::string& name, int64_t number) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    attribute(at, name, H5T_NATIVE_INT64, space, &number);
  }

  void texts(const std::string& at, const std::string& name, size_t width, hsize_t count,
             const std::string& bytes) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    attribute(at, name, type, space, bytes.data());
  }

  // Returns where its bytes go.
  uint64_t dataset(const std::string& path, DType dtype, const std::vector<hsize_t>& dims) {
    const Handle type(make_type(dtype), H5Tclose);
    if (!type) throw Unsupported("HDF5 files of Keras hold no elements of this type: " + path);
    const Handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                       H5Sclose);
    const Handle made(H5Dcreate2(file_, path.c_str(), type, space, groups_, layout_, H5P_DEFAULT), H5Dclose);
    if (!made) throw Refused("libhdf5 cannot write " + path + innermost_error());
    const haddr_t offset = H5Dget_offset(made);
    return offset == HADDR_UNDEF ? wire::kNowhere : offset;
  }

 private:
  void attribute(const std::string& at, const std::string& name, hid_t type, hid_t space, const void* value) {
    const Handle object(H5Oopen(file_, path_of(at).c_str(), H5P_DEFAULT), H5Oclose);
    const Handle made(object ? H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT) : -1,
                      H5Aclose);
    if (!made || H5Awrite(made, type, value) < 0)
      throw Refused("libhdf5 cannot write the attribute " + name + " of " + path_of(at) + innermost_error());
  }

  hid_t file_;
  Handle groups_, layout_;
};

// What went wrong first, which every answer from then on tells.
struct Trouble {
  Answer answer = Answer::ok;
  std::string text;

  template <class Do>
  void guard(Do&& what) {
    if (answer != Answer::ok) return;
    try {
      what();
    } catch (const Unsupported& e) {
      answer = Answer::unsupported;
      text = e.what();
    } catch (const Refused& e) {
      answer = Answer::bad;
      text = e.what();
    }
  }
  void tell(Output& out) const {
    out.number(answer);
    if (answer != Answer::ok) out.text(std::string_view(text).substr(0, wire::kMostName));
  }
};

class Commands {
 public:
  Commands(const char* path, int socket)
      : in_(std::make_unique<Input>(socket)), out_(std::make_unique<Output>(socket)) {
    trouble_.guard([&] { file_ = std::make_unique<Writer>(path); });
  }

  void obey() {
    for (;;) {
      const auto record = in_->number<Record>();
      if (record == Record::group) {
        const std::string path = in_->text();
        trouble_.guard([&] { file_->group(path); });
      } else if (record == Record::dataset) {
        dataset();
      } else if (record == Record::last) {
        trouble_.guard([&] { file_->close(); });
        trouble_.tell(*out_);
        return out_->flush();
      } else {
        attribute(record);
      }
    }
  }

 private:
  void dataset() {
    const std::string path = in_->text();
    const auto dtype = in_->number<DType>();
    std::vector<hsize_t> dims(in_->number<uint8_t>());
    for (hsize_t& d : dims) d = in_->number<uint64_t>();
    uint64_t offset = 0;
    trouble_.guard([&] { offset = file_->dataset(path, dtype, dims); });
    trouble_.tell(*out_);
    if (trouble_.answer == Answer::ok) out_->number(offset);
    out_->flush();
  }

  void attribute(Record record) {
    const std::string at = in_->text(), name = in_->text();
    if (record == Record::text) {
      const std::string text = in_->text();
      trouble_.guard([&] { file_->text(at, name, text); });
    } else if (record == Record::integer) {
      const auto number = in_->number<int64_t>();
      trouble_.guard([&] { file_->integer(at, name, number); });
    } else {
      const auto width = in_->number<uint32_t>(), count = in_->number<uint32_t>();
      std::string bytes(size_t{width} * count, '\0');
      in_->bytes(bytes.data(), bytes.size());
      trouble_.guard([&] { file_->texts(at, name, width, count, bytes); });
    }
  }

  std::unique_ptr<Input> in_;
  std::unique_ptr<Output> out_;
  std::unique_ptr<Writer> file_;
  Trouble trouble_;
};

}  // namespace

void write_file(const char* path, int socket) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Commands(path, socket).obey();
}

}  // namespace plimsoll::h5

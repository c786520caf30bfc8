// Data sets of an HDF5 file, read by hyperslabs. libhdf5 takes one call at a time, so its calls are made
// under one lock; its own messages go into our errors instead of to the terminal.
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "common/file_source.h"
#include "common/h5_handle.h"
#include "data/charge.h"
#include "data/sources.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

// Chunks of a chunked data set are unpacked into a cache; a shuffle reads each many times if it is too small.
constexpr int64_t kLeastCache = 1 << 20;
constexpr int64_t kMostCache = 32 << 20;

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Holds the library and keeps it from printing.
class Library {
 public:
  Library() : lock_(library_mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Library() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

herr_t first_message(unsigned, const H5E_error2_t* error, void* to) {
  auto& text = *static_cast<std::string*>(to);
  if (text.empty() && error->desc != nullptr) text = error->desc;
  return 0;
}

[[noreturn]] void bad(const std::string& place, std::string_view what) {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_message, &reason);
  fail(ErrorKind::bad_file, place, what, reason.empty() ? "" : " (libhdf5: ", reason,
       reason.empty() ? "" : ")");
}

struct Element {
  DType dtype;
  hid_t native;  // the library's own, or -1: as in the file
};

// The element type of a data set; nothing if there is no DType for it.
std::optional<Element> element_of(hid_t type) {
  const size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (size == 4) return Element{DType::f32, H5T_NATIVE_FLOAT};
      if (size == 8) return Element{DType::f64, H5T_NATIVE_DOUBLE};
      if (size == 2 && H5Tget_order(type) == H5T_ORDER_LE && H5Tget_ebias(type) == 15)
        return Element{DType::f16, -1};
      return std::nullopt;
    case H5T_ENUM:  // h5py's bool
      if (size == 1 && H5Tget_nmembers(type) == 2) return Element{DType::boolean, -1};
      return std::nullopt;
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
      if (size == 1)
        return is_signed ? Element{DType::i8, H5T_NATIVE_INT8} : Element{DType::u8, H5T_NATIVE_UINT8};
      if (size == 2)
        return is_signed ? Element{DType::i16, H5T_NATIVE_INT16} : Element{DType::u16, H5T_NATIVE_UINT16};
      if (size == 4)
        return is_signed ? Element{DType::i32, H5T_NATIVE_INT32} : Element{DType::u32, H5T_NATIVE_UINT32};
      if (size == 8)
        return is_signed ? Element{DType::i64, H5T_NATIVE_INT64} : Element{DType::u64, H5T_NATIVE_UINT64};
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

// One data set. Opened, read and closed under the library's lock.
class Column {
 public:
  Column(hid_t file, const std::string& path, const std::string& name) : place_(concat(path, ": ", name)) {
    {
      const H5Handle plain(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
      if (!plain) bad(place_, "no data set of this name");
      read_type(plain);
      size_cache(plain);
    }
    const H5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access, 521, static_cast<size_t>(cache_), H5D_CHUNK_CACHE_W0_DEFAULT);
    set_.emplace(H5Dopen2(file, name.c_str(), access), H5Dclose);
    if (!*set_) bad(place_, "cannot be opened");
    charge_.set(Owner::data, cache_);
  }

  const TensorType& record() const { return record_; }
  int64_t records() const { return records_; }
  const std::string& place() const { return place_; }

  void read(int64_t first, int64_t count, char* to) const {
    if (count == 0 || record_.shape.elements() == 0) return;
    std::array<hsize_t, Shape::kMaxRank + 1> start{}, sizes{};
    start[0] = static_cast<hsize_t>(first);
    sizes[0] = static_cast<hsize_t>(count);
    for (int i = 0; i < record_.shape.rank(); ++i)
      sizes[static_cast<size_t>(i) + 1] = static_cast<hsize_t>(record_.shape[i]);
    const H5Handle from(H5Dget_space(*set_), H5Sclose);
    const H5Handle into(H5Screate_simple(record_.shape.rank() + 1, sizes.data(), nullptr), H5Sclose);
    if (!from || !into ||
        H5Sselect_hyperslab(from, H5S_SELECT_SET, start.data(), nullptr, sizes.data(), nullptr) < 0 ||
        H5Dread(*set_, *memory_type_, into, from, H5P_DEFAULT, to) < 0) {
      bad(place_, concat("records ", first, " to ", first + count - 1, " cannot be read"));
    }
  }

 private:
  void read_type(hid_t set) {
    const H5Handle type(H5Dget_type(set), H5Tclose);
    const H5Handle space(H5Dget_space(set), H5Sclose);
    if (!type || !space) bad(place_, "a damaged data set");
    const std::optional<Element> element = element_of(type);
    if (!element)
      fail(ErrorKind::unsupported, place_, "expected numbers or bool, got elements of another type");
    memory_type_.emplace(H5Tcopy(element->native >= 0 ? element->native : static_cast<hid_t>(type)),
                         H5Tclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > Shape::kMaxRank) {
      fail(ErrorKind::unsupported, place_, "expected 1 to ", Shape::kMaxRank,
           " axes, the first of records, got ", rank);
    }
    std::array<hsize_t, Shape::kMaxRank> sizes{};
    H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    try {
      const std::vector<int64_t> signed_sizes(sizes.begin(), sizes.begin() + rank);
      const Shape shape(signed_sizes);
      byte_size(element->dtype, shape);
      record_ = {element->dtype, shape.without(0)};
      records_ = shape[0];
    } catch (const Error&) {
      fail(ErrorKind::bad_file, place_, "a shape too large for any machine");
    }
  }

  void size_cache(hid_t set) {
    const H5Handle made(H5Dget_create_plist(set), H5Pclose);
    if (!made || H5Pget_layout(made) != H5D_CHUNKED) return;
    std::array<hsize_t, Shape::kMaxRank> sizes{};
    const int rank = H5Pget_chunk(made, static_cast<int>(sizes.size()), sizes.data());
    int64_t bytes = static_cast<int64_t>(size_of(record_.dtype));
    for (int i = 0; i < rank; ++i)
      bytes = checked_mul(bytes, static_cast<int64_t>(sizes[static_cast<size_t>(i)]), place_);
    cache_ = std::max(bytes, std::clamp(4 * std::min(bytes, kMostCache), kLeastCache, kMostCache));
  }

  std::string place_;
  std::optional<H5Handle> set_, memory_type_;
  TensorType record_;
  int64_t records_ = 0;
  int64_t cache_ = 0;
  Charge charge_;
};

class Hdf5Source final : public Source {
 public:
  Hdf5Source(const std::string& path, const Hdf5Options& options) : Source({}) {
    const Library library;
    file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file_ < 0) bad(path, "not an HDF5 file, or a damaged one");
    try {
      open_columns(path, options);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Hdf5Source() override {
    const Library library;
    close();
  }

  std::optional<int64_t> records() const override { return columns_[0]->records(); }

  void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch&) const override {
    // In the order of the file, so that each chunk is unpacked once.
    std::vector<std::pair<int64_t, int64_t>> places;  // record, row
    for (const int64_t record : records) places.emplace_back(record, row++);
    std::sort(places.begin(), places.end());
    const Library library;
    for (size_t i = 0; i < places.size();) {
      size_t end = i + 1;
      while (end < places.size() && places[end].first == places[end - 1].first + 1 &&
             places[end].second == places[end - 1].second + 1) {
        ++end;
      }
      for (size_t c = 0; c < columns_.size(); ++c) {
        columns_[c]->read(places[i].first, static_cast<int64_t>(end - i), to.at(c, places[i].second));
      }
      i = end;
    }
  }

 private:
  void open_columns(const std::string& path, const Hdf5Options& options) {
    RecordTypes types;
    const auto add = [&](const std::vector<std::string>& names, std::vector<TensorType>& list) {
      for (const std::string& name : names) {
        columns_.push_back(std::make_unique<Column>(file_, path, name));
        const Column& column = *columns_.back();
        if (column.records() != columns_[0]->records()) {
          fail(ErrorKind::bad_file, column.place(), "expected ", columns_[0]->records(), " records as in ",
               columns_[0]->place(), ", got ", column.records());
        }
        list.push_back(column.record());
      }
    };
    add(options.x, types.x);
    add(options.y, types.y);
    add(options.weights, types.weights);
    set_types(std::move(types));
  }

  void close() {
    columns_.clear();
    H5Fclose(file_);
  }

  hid_t file_;
  std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace

SourcePtr hdf5_source(const std::string& path, const Hdf5Options& options) {
  require(!options.x.empty(), "dataset.hdf5", "expected at least one name for x, got none");
  FileSource::open(path);  // for its errors: libhdf5 does not tell an absent file from a damaged one
  return std::make_shared<Hdf5Source>(path, options);
}

}  // namespace plimsoll::data

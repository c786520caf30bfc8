#include "h5/program/rows.h"

#include <hdf5.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "h5/program/handle.h"
#include "h5/program/input.h"
#include "h5/program/output.h"
#include "h5/program/refused.h"
#include "h5/program/types.h"

namespace plimsoll::h5 {
namespace {

using wire::Answer;
using wire::Place;
using wire::Record;

// Chunks of a chunked data set are unpacked into a cache; a shuffle reads each many times if it is too small.
constexpr uint64_t kLeastCache = 1u << 20;
constexpr uint64_t kMostCache = 32u << 20;
constexpr uint64_t kSlab = 1u << 20;  // bytes of rows in memory at a time, or one row

uint64_t product(uint64_t a, uint64_t b, const std::string& name) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > uint64_t{1} << 62)
    throw Refused(name + ": a shape too large for any machine");
  return result;
}

// Numbers and h5py's bool; an opaque pair of bytes is bfloat16 only to Keras.
MemoryType element_of(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (kind == H5T_OPAQUE || (kind == H5T_ENUM && H5Tget_nmembers(type) != 2)) return {};
  return memory_type(type);
}

// What a user may have meant: the data sets there are, in the order of their paths.
std::string names_in(hid_t file) {
  constexpr size_t kMost = 20;
  std::vector<std::string> names;
  const auto note = [](hid_t root, const char* path, const H5L_info_t* info, void* list) -> herr_t {
    auto& found = *static_cast<std::vector<std::string>*>(list);
    if (info->type != H5L_TYPE_HARD) return 0;
    const Handle object(H5Oopen(root, path, H5P_DEFAULT), H5Oclose);
    if (object && H5Iget_type(object) == H5I_DATASET) found.emplace_back(path);
    return found.size() > kMost ? 1 : 0;
  };
  H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note, &names);  // of a damaged file: those before the damage
  if (names.empty()) return "there are none in the file";
  std::string text = "there are: ";
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i ? ", " : "") + names[i];
  return text + (names.size() > kMost ? ", ..." : "");
}

class Column {
 public:
  Column(hid_t file, const std::string& name, const std::function<void(uint64_t)>& needs_memory)
      : name_(name) {
    set_.emplace(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!*set_) throw Refused(name + ": no data set of this name; " + names_in(file));
    read_shape();
    find_place();
    if (cache_ == 0) return;
    needs_memory(cache_);
    set_.reset();
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_chunk_cache(access, 521, cache_, H5D_CHUNK_CACHE_W0_DEFAULT);
    set_.emplace(H5Dopen2(file, name.c_str(), access), H5Dclose);
    if (!*set_) throw Refused(name + ": cannot be opened" + innermost_error());
  }

  void describe(Output& out) const {
    out.number(memory_.dtype);
    out.number(static_cast<uint8_t>(dims_.size()));
    for (const hsize_t d : dims_) out.number(static_cast<uint64_t>(d));
    out.number(cache_);
    out.number(offset_ ? Place::file : Place::stream);
    if (offset_) out.number(*offset_);
  }

  uint64_t rows() const { return dims_[0]; }
  uint64_t rows_at_once() const { return std::max<uint64_t>(1, kSlab / std::max<uint64_t>(1, row_bytes_)); }

  void read(uint64_t first, uint64_t count, std::vector<char>& into) const {
    into.resize(product(count, row_bytes_, name_));
    if (into.empty()) return;
    std::vector<hsize_t> start(dims_.size(), 0), sizes(dims_);
    start[0] = first;
    sizes[0] = count;
    const Handle from(H5Dget_space(*set_), H5Sclose);
    const Handle to(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
    if (!from || !to ||
        H5Sselect_hyperslab(from, H5S_SELECT_SET, start.data(), nullptr, sizes.data(), nullptr) < 0 ||
        H5Dread(*set_, memory_.type, to, from, H5P_DEFAULT, into.data()) < 0) {
      throw Refused(name_ + ": records " + std::to_string(first) + " to " +
                    std::to_string(first + count - 1) + " cannot be read" + innermost_error());
    }
  }

 private:
  void read_shape() {
    type_.emplace(H5Dget_type(*set_), H5Tclose);
    const Handle space(H5Dget_space(*set_), H5Sclose);
    if (!*type_ || !space) throw Refused(name_ + ": a damaged data set");
    memory_ = element_of(*type_);
    if (memory_.kind != wire::Kind::number)
      throw Unsupported(name_ + ": expected numbers or bool, got elements of another type");
    dims_.resize(H5S_MAX_RANK);
    const int rank = H5Sget_simple_extent_dims(space, dims_.data(), nullptr);
    if (rank < 1 || rank > 8)
      throw Unsupported(name_ + ": expected 1 to 8 axes, the first of records, got " + std::to_string(rank));
    dims_.resize(static_cast<size_t>(rank));
    row_bytes_ = H5Tget_size(memory_.type);
    for (size_t i = 1; i < dims_.size(); ++i) row_bytes_ = product(row_bytes_, dims_[i], name_);
    product(row_bytes_, dims_[0], name_);
  }

  void find_place() {
    const Handle plan(H5Dget_create_plist(*set_), H5Pclose);
    if (!plan) throw Refused(name_ + ": a damaged data set");
    if (is_elsewhere(plan))
      throw Unsupported(name_ + ": its values are kept in another file; copy them into this one");
    const haddr_t offset = H5Dget_offset(*set_);
    if (H5Pget_layout(plan) == H5D_CONTIGUOUS && offset != HADDR_UNDEF &&
        H5Dget_storage_size(*set_) == row_bytes_ * dims_[0] && H5Tequal(*type_, memory_.type) > 0) {
      offset_ = offset;
    }
    if (H5Pget_layout(plan) != H5D_CHUNKED) return;
    std::vector<hsize_t> chunk(H5S_MAX_RANK);
    const int rank = H5Pget_chunk(plan, H5S_MAX_RANK, chunk.data());
    uint64_t bytes = H5Tget_size(*type_);
    for (int i = 0; i < rank; ++i) bytes = product(bytes, chunk[static_cast<size_t>(i)], name_);
    cache_ = std::max(bytes, std::clamp(4 * std::min(bytes, kMostCache), kLeastCache, kMostCache));
  }

  std::string name_;
  std::optional<Handle> set_, type_;
  MemoryType memory_;
  std::vector<hsize_t> dims_;
  uint64_t row_bytes_ = 0, cache_ = 0;
  std::optional<uint64_t> offset_;
};

class Rows {
 public:
  Rows(int socket, const std::function<void(uint64_t)>& needs_memory)
      : in_(std::make_unique<Input>(socket)),
        out_(std::make_unique<Output>(socket)),
        needs_memory_(needs_memory),
#ifdef __linux__
        file_(H5Fopen("/proc/self/fd/0", H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose)
#else
        file_(H5Fopen("/dev/fd/0", H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose)
#endif
  {
  }

  void serve() {
    for (;;) {
      const auto record = in_->number<Record>();
      try {
        record == Record::open ? open() : rows();
      } catch (const Unsupported& e) {
        refuse(Answer::unsupported, e.what());
      } catch (const Refused& e) {
        refuse(Answer::bad, e.what());
      }
      out_->flush();
    }
  }

 private:
  void open() {
    const std::string name = in_->text();
    if (!file_) throw Refused("not an HDF5 file, or a damaged one" + innermost_error());
    columns_.push_back(std::make_unique<Column>(file_, name, needs_memory_));
    out_->number(Answer::ok);
    columns_.back()->describe(*out_);
  }

  void rows() {
    const auto index = in_->number<uint32_t>();
    uint64_t at = in_->number<uint64_t>();
    const uint64_t end = at + in_->number<uint64_t>();
    if (index >= columns_.size() || end < at || end > columns_[index]->rows())
      throw Refused("no such records");
    for (const Column& column = *columns_[index]; at < end;) {
      const uint64_t count = std::min(end - at, column.rows_at_once());
      column.read(at, count, slab_);
      out_->number(Answer::ok);
      out_->number(count);
      out_->bytes(slab_.data(), slab_.size());
      at += count;
    }
  }

  void refuse(Answer answer, std::string_view why) {
    out_->number(answer);
    out_->text(why.substr(0, wire::kMostName));
  }

  std::unique_ptr<Input> in_;
  std::unique_ptr<Output> out_;
  const std::function<void(uint64_t)>& needs_memory_;
  Handle file_;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<char> slab_;
};

}  // namespace

void serve_rows(int socket, const std::function<void(uint64_t)>& needs_memory) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Rows(socket, needs_memory).serve();
}

}  // namespace plimsoll::h5

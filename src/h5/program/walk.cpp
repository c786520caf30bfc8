#include "h5/program/walk.h"

#include <hdf5.h>
#include <hdf5_hl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "h5/program/handle.h"
#include "h5/program/output.h"
#include "h5/program/refused.h"
#include "h5/program/types.h"

namespace plimsoll::h5 {
namespace {

using wire::Kind;
using wire::Place;
using wire::Record;

constexpr size_t kSlab = 8u << 20;  // bytes of packed data in memory at a time, or one row or chunk

class Walker {
 public:
  explicit Walker(Output& out) : out_(out) {}

  void walk(hid_t root) { group("", root, 0); }

 private:
  void count_node() {
    if (++nodes_ > wire::kMostNodes) refuse("more groups, datasets and attributes than a model has");
  }

  [[noreturn]] void refuse(std::string_view what) const { throw Refused(where_ + ": " + std::string(what)); }

  static herr_t add_link(hid_t, const char* name, const H5L_info_t* info, void* list) {
    static_cast<std::vector<std::pair<std::string, bool>>*>(list)->emplace_back(name,
                                                                                info->type == H5L_TYPE_HARD);
    return 0;
  }

  void group(std::string_view name, hid_t id, int depth) {
    count_node();
    if (depth > wire::kMostDepth) refuse("groups in groups, deeper than a model has");
    out_.record(Record::group);
    out_.text(name);
    attributes(id);
    std::vector<std::pair<std::string, bool>> links;
    hsize_t from = 0;
    if (H5Literate(id, H5_INDEX_NAME, H5_ITER_INC, &from, add_link, &links) < 0)
      refuse("cannot list the group");
    for (const auto& [child, is_hard] : links) {
      const size_t here = where_.size();
      where_ += "/" + child;
      if (!is_hard) refuse("a link to another place or file, which a model has no use for");
      const Handle object(H5Oopen(id, child.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object) refuse("cannot be opened");
      const H5I_type_t kind = H5Iget_type(object);
      if (kind == H5I_GROUP)
        group(child, object, depth + 1);
      else if (kind == H5I_DATASET)
        dataset(child, object);
      where_.resize(here);
    }
    out_.record(Record::end);
  }

  static herr_t add_name(hid_t, const char* name, const H5A_info_t*, void* list) {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  }

  void attributes(hid_t object) {
    std::vector<std::string> names;
    hsize_t from = 0;
    if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &from, add_name, &names) < 0) {
      refuse("cannot list the attributes");
    }
    for (const std::string& name : names) {
      count_node();
      const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
      if (!attribute) refuse("attribute " + name + " cannot be opened");
      out_.record(Record::attribute);
      out_.text(name.substr(0, wire::kMostName));
      value_of(attribute, name);
    }
  }

  void value_of(hid_t attribute, const std::string& name) {
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    const hssize_t points = H5Sget_simple_extent_npoints(space);
    if (!type || !space || points < 0) refuse("attribute " + name + " has no type");
    const uint64_t count = static_cast<uint64_t>(points);
    const Kind kind = kind_of(type);
    if (count > wire::kMostTexts) refuse("attribute " + name + " is larger than a model's");
    out_.number(kind);
    out_.number(static_cast<uint8_t>(H5Sget_simple_extent_ndims(space) > 0));
    out_.number(kind == Kind::other ? uint64_t{0} : count);
    if (kind == Kind::number) {
      std::vector<double> values(count);
      if (count > 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0)
        refuse("attribute " + name + " cannot be read");
      out_.bytes(values.data(), count * sizeof(double));
    } else if (kind == Kind::text) {
      texts(type, space, count, [&](hid_t memory, void* into) { return H5Aread(attribute, memory, into); });
    }
  }

  // Texts of fixed or variable length, from an attribute or a dataset.
  template <class Read>
  void texts(hid_t type, hid_t space, uint64_t count, Read&& read) {
    if (count == 0) return;
    if (H5Tis_variable_str(type) > 0) {
      std::vector<char*> values(count, nullptr);
      const bool done = read(type, static_cast<void*>(values.data())) >= 0;
      if (!done) refuse("a text cannot be read");
      for (const char* value : values) text(value ? std::string_view(value) : std::string_view());
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data());
      return;
    }
    const size_t width = H5Tget_size(type);
    if (width == 0 || count > wire::kMostText / width) refuse("a text longer than a model has");
    std::vector<char> bytes(width * count);
    if (read(type, static_cast<void*>(bytes.data())) < 0) refuse("a text cannot be read");
    const bool spaces = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
    for (uint64_t i = 0; i < count; ++i) {
      std::string_view value(bytes.data() + i * width, width);
      value = value.substr(0, std::min(value.find('\0'), width));
      while (spaces && !value.empty() && value.back() == ' ') value.remove_suffix(1);
      text(value);
    }
  }
  void text(std::string_view value) {
    if (value.size() > wire::kMostText) refuse("a text longer than a model has");
    out_.text(value);
  }

  void dataset(const std::string& name, hid_t id) {
    count_node();
    const Handle type(H5Dget_type(id), H5Tclose), space(H5Dget_space(id), H5Sclose);
    const Handle plan(H5Dget_create_plist(id), H5Pclose);
    if (!type || !space || !plan) refuse("has no type");
    std::vector<hsize_t> dims(H5S_MAX_RANK);
    const int rank = H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    dims.resize(static_cast<size_t>(std::max(rank, 0)));
    const MemoryType memory = memory_type(type);

    out_.record(Record::dataset);
    out_.text(name);
    out_.number(memory.kind);
    out_.number(memory.dtype);
    const bool fits = rank >= 0 && rank <= 8 && H5Sget_simple_extent_type(space) != H5S_NULL;
    out_.number(static_cast<uint8_t>(fits ? rank : 0));
    for (size_t i = 0; fits && i < dims.size(); ++i) out_.number(static_cast<uint64_t>(dims[i]));
    if (!fits)
      nowhere("an array of " + std::to_string(rank) + " axes");
    else if (is_elsewhere(plan))
      nowhere("values that are kept in another file");
    else if (memory.kind == Kind::other)
      nowhere("values of a type that a tensor cannot have");
    else if (memory.kind == Kind::text)
      texts_of(id, type, space);
    else
      numbers_of(id, plan, type, memory, dims);
    attributes(id);
    out_.record(Record::end);
  }

  void nowhere(const std::string& why) {
    out_.number(Place::none);
    out_.text(where_ + ": " + why);
  }

  void texts_of(hid_t id, hid_t type, hid_t space) {
    const uint64_t count = static_cast<uint64_t>(H5Sget_simple_extent_npoints(space));
    if (count > wire::kMostTexts) return nowhere("more texts than a model has");
    out_.number(Place::stream);
    texts(type, space, count,
          [&](hid_t memory, void* into) { return H5Dread(id, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, into); });
  }

  void numbers_of(hid_t id, hid_t plan, hid_t type, const MemoryType& memory,
                  const std::vector<hsize_t>& dims) {
    uint64_t elements = 1;
    for (const hsize_t d : dims) {
      if (d != 0 && elements > (uint64_t{1} << 62) / d) refuse("an array of no possible size");
      elements *= d;
    }
    const uint64_t bytes = elements * H5Tget_size(type);
    const haddr_t offset = H5Dget_offset(id);
    const bool as_it_is = H5Pget_layout(plan) == H5D_CONTIGUOUS && offset != HADDR_UNDEF &&
                          H5Dget_storage_size(id) == bytes && H5Tequal(type, memory.type) > 0;
    out_.number(as_it_is ? Place::file : Place::stream);
    if (as_it_is) return out_.number(static_cast<uint64_t>(offset));
    if (elements > 0) stream(id, memory, plan, dims, elements);
  }

  // Row by row of the first axis, or chunk by chunk, so that a large packed array needs little memory here.
  void stream(hid_t id, const MemoryType& memory, hid_t plan, const std::vector<hsize_t>& dims,
              uint64_t elements) {
    const size_t item = H5Tget_size(memory.type);
    const hsize_t rows = dims.empty() ? 1 : dims[0], row = elements / rows;
    hsize_t chunk[H5S_MAX_RANK] = {1};
    if (H5Pget_layout(plan) == H5D_CHUNKED) H5Pget_chunk(plan, H5S_MAX_RANK, chunk);
    hsize_t at_once = std::max<hsize_t>(1, kSlab / std::max<hsize_t>(1, row * item));
    at_once = std::min(rows, (at_once + chunk[0] - 1) / chunk[0] * chunk[0]);
    const std::unique_ptr<char[]> values(new char[at_once * row * item]);
    const Handle all(H5Dget_space(id), H5Sclose);
    for (hsize_t at = 0; at < rows; at += at_once) {
      std::vector<hsize_t> start(dims.size(), 0), count(dims);
      const hsize_t take = std::min(at_once, rows - at), total = take * row;
      if (!dims.empty()) {
        start[0] = at;
        count[0] = take;
        if (H5Sselect_hyperslab(all, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0) {
          refuse("cannot be read");
        }
      }
      const Handle part(H5Screate_simple(1, &total, nullptr), H5Sclose);
      if (H5Dread(id, memory.type, part, all, H5P_DEFAULT, values.get()) < 0) refuse("cannot be read");
      out_.bytes(values.get(), total * item);
    }
  }

  Output& out_;
  std::string where_;
  uint64_t nodes_ = 0;
};

}  // namespace

void walk_image(void* image, size_t size, int output) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const auto out = std::make_unique<Output>(output);
  const auto stop = [&](const std::string& why) {
    out->record(Record::error);
    out->text(why.substr(0, wire::kMostName));
  };
  try {
    const Handle file(
        H5LTopen_file_image(image, size, H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE), H5Fclose);
    if (!file) throw Refused("not a whole HDF5 file: cut off or damaged" + innermost_error());
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    if (!root) throw Refused("the root group cannot be opened" + innermost_error());
    Walker(*out).walk(root);
    out->record(Record::last);
  } catch (const Refused& e) {
    stop(e.what());
  }
  out->flush();
}

}  // namespace plimsoll::h5

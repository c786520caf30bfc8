// .npy and .npz: arrays read in place record by record; compressed ones unpacked into memory, or as a stream.
#include <algorithm>
#include <cstring>

#include "common/bytes.h"
#include "data/npy_array.h"
#include "data/sources.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

// Arrays that hold the records' tensors, by part.
struct Arrays {
  std::vector<NpyArray> x, y, weights;
};

TensorType record_type(const NpyArray& array) {
  if (array.type().shape.rank() == 0) {
    fail(ErrorKind::bad_file, array.name(), "expected an array with an axis of records, got ", array.type());
  }
  return {array.type().dtype, array.type().shape.without(0)};
}

RecordTypes types_of(const Arrays& arrays) {
  RecordTypes types;
  for (const NpyArray& a : arrays.x) types.x.push_back(record_type(a));
  for (const NpyArray& a : arrays.y) types.y.push_back(record_type(a));
  for (const NpyArray& a : arrays.weights) types.weights.push_back(record_type(a));
  return types;
}

std::vector<NpyArray> in_one_list(const Arrays& arrays) {
  std::vector<NpyArray> all = arrays.x;
  all.insert(all.end(), arrays.y.begin(), arrays.y.end());
  all.insert(all.end(), arrays.weights.begin(), arrays.weights.end());
  for (const NpyArray& a : all) {
    if (a.type().shape[0] != all[0].type().shape[0]) {
      fail(ErrorKind::bad_file, a.name(), "expected ", all[0].type().shape[0], " records as in ",
           all[0].name(), ", got ", a.type());
    }
  }
  return all;
}

// A column is read from its file or, where that cannot be done in place, from memory.
struct Column {
  std::optional<FileSource> file;
  Tensor memory;
  DType dtype;
  bool swapped;
};

Column column_of(const NpyArray& array) {
  const bool in_place = !array.compressed() && !array.header().fortran;
  if (in_place) return {array.elements(), Tensor(), array.type().dtype, array.header().swapped};
  return {std::nullopt, array.load(Owner::data), array.type().dtype, false};
}

void read_column(const Column& column, std::span<const int64_t> records, char* to, int64_t bytes) {
  const char* memory = column.file ? nullptr : static_cast<const char*>(column.memory.data());
  for (size_t i = 0; i < records.size();) {
    size_t end = i + 1;  // of a run of consecutive records
    while (end < records.size() && records[end] == records[end - 1] + 1) ++end;
    const auto count = static_cast<uint64_t>(end - i) * static_cast<uint64_t>(bytes);
    const auto from = static_cast<uint64_t>(records[i]) * static_cast<uint64_t>(bytes);
    if (column.file)
      column.file->read(from, to, count);
    else
      std::memcpy(to, memory + from, count);
    to += count;
    i = end;
  }
}

class NpySource final : public Source {
 public:
  NpySource(RecordTypes types, const std::vector<NpyArray>& arrays)
      : Source(std::move(types)), records_(arrays[0].type().shape[0]) {
    for (const NpyArray& array : arrays) columns_.push_back(column_of(array));
  }
  std::optional<int64_t> records() const override { return records_; }
  std::vector<Tensor> tensors() const override {
    std::vector<Tensor> all;
    for (const Column& column : columns_) {
      if (column.memory.defined()) all.push_back(column.memory);
    }
    return all;
  }

  void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch&) const override {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const int64_t bytes = to.columns[c].bytes;
      read_column(column, records, to.at(c, row), bytes);
      const auto elements =
          static_cast<int64_t>(records.size()) * bytes / static_cast<int64_t>(size_of(column.dtype));
      if (column.swapped) swap_bytes(column.dtype, to.at(c, row), elements);
    }
  }

 private:
  std::vector<Column> columns_;
  int64_t records_;
};

class NpzRawStream final : public RawStream {
 public:
  explicit NpzRawStream(const std::vector<NpyArray>& arrays) : left_(arrays[0].type().shape[0]) {
    for (const NpyArray& array : arrays) {
      columns_.push_back({array.stream(), byte_size(array.type().dtype, array.type().shape.without(0))});
      bytes_ += columns_.back().bytes;
    }
  }
  bool next(RawRecord& record) override {
    if (left_ == 0) return false;
    --left_;
    char* to = record.bytes.resize(bytes_);
    for (const auto& [stream, bytes] : columns_) {
      stream->read(to, static_cast<uint64_t>(bytes));
      to += bytes;
    }
    record.place = place_++;
    return true;
  }

 private:
  struct Column {
    std::unique_ptr<ByteStream> stream;
    int64_t bytes;
  };
  std::vector<Column> columns_;
  int64_t left_;
  int64_t bytes_ = 0;
  int64_t place_ = 0;
};

class NpzStreamSource final : public Source {
 public:
  NpzStreamSource(RecordTypes types, std::vector<NpyArray> arrays)
      : Source(std::move(types)), arrays_(std::move(arrays)) {}

  std::unique_ptr<RawStream> open(int64_t) const override { return std::make_unique<NpzRawStream>(arrays_); }

  void decode(const RawRecord& record, const Rows& to, int64_t row) const override {
    copy_packed(record.bytes.data(), to, row);
    for (size_t c = 0; c < arrays_.size(); ++c) {
      const DType dtype = arrays_[c].type().dtype;
      const int64_t elements = to.columns[c].bytes / static_cast<int64_t>(size_of(dtype));
      if (arrays_[c].header().swapped) swap_bytes(dtype, to.at(c, row), elements);
    }
  }

 private:
  std::vector<NpyArray> arrays_;
};

SourcePtr source_of(const Arrays& arrays, int64_t unpack) {
  RecordTypes types = types_of(arrays);
  std::vector<NpyArray> all = in_one_list(arrays);
  int64_t packed = 0;
  for (const NpyArray& a : all) {
    if (a.header().fortran && a.bytes() > unpack) {
      fail(ErrorKind::unsupported, a.name(), "an array of ", bytes_text(a.bytes()),
           " in Fortran order cannot be read record by ", "record: save it as np.ascontiguousarray(array)");
    }
    if (a.compressed() && a.bytes() > INT64_MAX - packed) {
      fail(ErrorKind::bad_file, a.name(), "arrays too large for any machine");
    }
    packed += a.compressed() ? a.bytes() : 0;
  }
  if (packed <= unpack) return std::make_shared<NpySource>(std::move(types), all);
  for (const NpyArray& a : all) {
    if (a.header().fortran) {
      fail(ErrorKind::unsupported, a.name(),
           "an array in Fortran order beside compressed ones too large to unpack: save it ",
           "as np.ascontiguousarray(array)");
    }
  }
  return std::make_shared<NpzStreamSource>(std::move(types), std::move(all));
}

}  // namespace

SourcePtr npy_source(const std::string& x_path, const std::string& y_path) {
  Arrays arrays;
  arrays.x.push_back(NpyArray::open(FileSource::open(x_path)));
  if (!y_path.empty()) arrays.y.push_back(NpyArray::open(FileSource::open(y_path)));
  return source_of(arrays, NpzOptions().unpack);
}

SourcePtr npz_source(const FileSource& file, const NpzOptions& options) {
  require(!options.x.empty(), "dataset.npz", "expected at least one name for x, got none");
  const auto zip = open_npz(file);
  Arrays arrays;
  for (const std::string& name : options.x) arrays.x.push_back(open_array(zip, file.name(), name));
  for (const std::string& name : options.y) arrays.y.push_back(open_array(zip, file.name(), name));
  for (const std::string& name : options.weights)
    arrays.weights.push_back(open_array(zip, file.name(), name));
  return source_of(arrays, options.unpack);
}

}  // namespace plimsoll::data

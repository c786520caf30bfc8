// Data sets of an HDF5 file. plimsoll-h5 (h5/process.h) tells where they lie: those that lie there plainly
// are read from the file by any thread; rows of the others (in chunks, packed, of another byte order) it
// reads for us, one request at a time.
#include <algorithm>
#include <mutex>
#include <optional>

#include "common/file_source.h"
#include "memory/charge.h"
#include "data/sources.h"
#include "h5/process.h"
#include "h5/wire.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

using h5::wire::Place;
using h5::wire::Record;

struct Column {
  std::string place;
  TensorType record;
  int64_t records = 0;
  int64_t row_bytes = 0;
  std::optional<uint64_t> offset;  // in the file; none: read by the process
  Charge cache;                    // the process's, of unpacked chunks
};

class Hdf5Source final : public Source {
 public:
  Hdf5Source(const std::string& path, const Hdf5Options& options)
      : Source({}), file_(FileSource::open(path)), process_({path}, {"rows"}, file_.fd()) {
    RecordTypes types;
    const auto add = [&](const std::vector<std::string>& names, std::vector<TensorType>& list) {
      for (const std::string& name : names) list.push_back(open_column(name).record);
    };
    add(options.x, types.x);
    add(options.y, types.y);
    add(options.weights, types.weights);
    set_types(std::move(types));
  }

  std::optional<int64_t> records() const override { return columns_[0]->records; }

  void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch&) const override {
    // In the order of the file, so that each chunk is unpacked once.
    std::vector<std::pair<int64_t, int64_t>> places;  // record, row
    for (const int64_t record : records) places.emplace_back(record, row++);
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size();) {
      size_t end = i + 1;
      while (end < places.size() && places[end].first == places[end - 1].first + 1 &&
             places[end].second == places[end - 1].second + 1) {
        ++end;
      }
      for (size_t c = 0; c < columns_.size(); ++c) {
        read_column(c, places[i].first, static_cast<int64_t>(end - i), to.at(c, places[i].second));
      }
      i = end;
    }
  }

 private:
  const Column& open_column(const std::string& name) {
    process_.put(Record::open);
    process_.put_text(name);
    process_.expect_ok();
    auto column = std::make_unique<Column>();
    column->place = concat(file_.name(), ": ", name);
    read_type(*column);
    const uint64_t cache = process_.number<uint64_t>();
    if (cache > uint64_t{1} << 62) process_.misspoke();
    if (process_.number<Place>() == Place::file) column->offset = process_.number<uint64_t>();
    column->cache.set(Owner::data, static_cast<int64_t>(cache));
    if (!columns_.empty() && column->records != columns_[0]->records) {
      fail(ErrorKind::bad_file, column->place, "expected ", columns_[0]->records, " records as in ",
           columns_[0]->place, ", got ", column->records);
    }
    columns_.push_back(std::move(column));
    return *columns_.back();
  }

  void read_type(Column& column) {
    const uint8_t dtype = process_.number<uint8_t>();
    std::vector<int64_t> sizes(process_.number<uint8_t>());
    if (dtype >= kDTypeCount || sizes.empty() || sizes.size() > Shape::kMaxRank) process_.misspoke();
    for (int64_t& size : sizes) size = static_cast<int64_t>(process_.number<uint64_t>());
    try {
      const Shape shape(sizes);
      byte_size(static_cast<DType>(dtype), shape);
      column.record = {static_cast<DType>(dtype), shape.without(0)};
      column.records = shape[0];
      column.row_bytes = byte_size(column.record.dtype, column.record.shape);
    } catch (const Error&) {
      fail(ErrorKind::bad_file, column.place, "a shape too large for any machine");
    }
  }

  void read_column(size_t index, int64_t first, int64_t count, char* to) const {
    const Column& column = *columns_[index];
    const auto bytes = [&](int64_t rows) { return static_cast<uint64_t>(rows * column.row_bytes); };
    if (bytes(count) == 0) return;
    if (column.offset) return file_.read(*column.offset + bytes(first), to, bytes(count));
    const std::lock_guard lock(mutex_);
    process_.put(Record::rows);
    process_.put(static_cast<uint32_t>(index));
    process_.put(static_cast<uint64_t>(first));
    process_.put(static_cast<uint64_t>(count));
    while (count > 0) {
      process_.expect_ok();
      const uint64_t rows = process_.number<uint64_t>();
      if (rows == 0 || rows > static_cast<uint64_t>(count)) process_.misspoke();
      process_.read(to, bytes(static_cast<int64_t>(rows)));
      to += bytes(static_cast<int64_t>(rows));
      count -= static_cast<int64_t>(rows);
    }
  }

  const FileSource file_;
  mutable std::mutex mutex_;  // of the process
  mutable h5::Process process_;
  std::vector<std::unique_ptr<Column>> columns_;
};

}  // namespace

SourcePtr hdf5_source(const std::string& path, const Hdf5Options& options) {
  require(!options.x.empty(), "dataset.hdf5", "expected at least one name for x, got none");
  return std::make_shared<Hdf5Source>(path, options);
}

}  // namespace plimsoll::data

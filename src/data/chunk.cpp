#include "data/chunk.h"

#include <algorithm>
#include <cstring>

#include "data/mix.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr int64_t kGrainBytes = 256 << 10;  // one turn of work: long against a lock, short against a batch
constexpr int64_t kGrainRaw = 32;           // the same for raw records to decode

int64_t record_bytes(const RecordTypes& types) {
  int64_t bytes = 0;
  for (const TensorType& type : flat_types(types)) bytes += byte_size(type.dtype, type.shape);
  return bytes;
}

// A record whose tensors are the bytes of one row. They keep the batch's buffers alive.
Record record_at(const Batch& batch, int64_t row) {
  Record record;
  const auto view = [&](const std::vector<Tensor>& from, std::vector<Tensor>& to) {
    for (const Tensor& t : from) {
      const Shape shape = t.shape().without(0);
      const int64_t bytes = byte_size(t.dtype(), shape);
      to.emplace_back(t.dtype(), shape,
                      Buffer::wrap(static_cast<char*>(t.data()) + row * bytes, bytes, t.buffer()));
    }
  };
  view(batch.x, record.x);
  view(batch.y, record.y);
  view(batch.weights, record.weights);
  return record;
}

// Copies the record into a row, except for tensors that lie there already.
void store(Record& record, const RecordTypes& types, const Rows& rows, int64_t row) {
  const std::vector<TensorType> wanted = flat_types(types);
  const auto tensors = flat(record);
  require(tensors.size() == wanted.size(), "dataset.map", "expected ", wanted.size(),
          " tensors in a record, got ", tensors.size());
  for (size_t c = 0; c < tensors.size(); ++c) {
    require(tensors[c]->type() == wanted[c], "dataset.map", "expected every record to become ", wanted[c],
            ", got ", tensors[c]->type());
    for (size_t other = 0; other < tensors.size(); ++other) {  // two columns may have changed places
      if (other != c && tensors[c]->data() == rows.at(other, row)) *tensors[c] = tensors[c]->copy();
    }
  }
  for (size_t c = 0; c < tensors.size(); ++c) {
    char* to = rows.at(c, row);
    if (tensors[c]->data() != to)
      std::memcpy(to, tensors[c]->data(), static_cast<size_t>(rows.columns[c].bytes));
  }
}

}  // namespace

ChunkMaker::ChunkMaker(std::shared_ptr<const Dataset::Body> body, int64_t epoch, int64_t first)
    : body_(std::move(body)), epoch_(static_cast<uint64_t>(epoch)), next_(first) {
  const Source& source = *body_->source;
  if (body_->random_access()) {
    order_.emplace(*source.records(), body_->settings.order, epoch_);
  } else {
    stream_ = open_ordered(body_->source, body_->settings.order, epoch);
    RawRecord record;
    for (int64_t i = 0; i < first && next_raw(record); ++i) continue;
  }
  const bool changed = !body_->settings.changes.empty();
  one_by_one_ = changed || source.can_be_bad();
  const int64_t bytes = std::max<int64_t>(1, record_bytes(source.types()));
  if (!one_by_one_)
    grain_ = std::max<int64_t>(1, kGrainBytes / bytes);
  else
    grain_ = changed || order_ ? 1 : kGrainRaw;
}

bool ChunkMaker::begin(Chunk& chunk) {
  const int64_t most = body_->settings.batch;
  chunk.first = next_;
  chunk.count = 0;
  chunk.error = nullptr;
  chunk.error_row = INT64_MAX;
  chunk.next_row = chunk.rows_done = 0;
  if (order_) {
    chunk.count = std::clamp<int64_t>(order_->size() - next_, 0, most);
    chunk.records.resize(static_cast<size_t>(chunk.count));
    for (int64_t i = 0; i < chunk.count; ++i) chunk.records[static_cast<size_t>(i)] = (*order_)[next_ + i];
  } else {
    chunk.raw.resize(static_cast<size_t>(most));
    while (chunk.count < most && next_raw(chunk.raw[static_cast<size_t>(chunk.count)])) ++chunk.count;
  }
  if (chunk.count == 0) return false;
  next_ += chunk.count;
  chunk.bad.assign(static_cast<size_t>(chunk.count), 0);
  shape_batch(chunk.batch, body_->types, chunk.count, most);
  point_to(chunk.rows, chunk.batch);
  return true;
}

bool ChunkMaker::next_raw(RawRecord& record) {
  if (stream_ != nullptr && !stream_->next(record)) stream_.reset();
  return stream_ != nullptr;
}

void ChunkMaker::work(Chunk& chunk, int64_t from, int64_t to, Scratch& scratch,
                      std::mutex& mutex) const noexcept {
  int64_t row = from;
  try {
    if (!one_by_one_) read(chunk, from, to, chunk.rows, from, scratch);
    for (; one_by_one_ && row < to; ++row) {
      try {
        if (body_->settings.changes.empty())
          read(chunk, row, row + 1, chunk.rows, row, scratch);
        else
          read_changed(chunk, row, scratch);
      } catch (const Error& error) {
        if (!may_leave_out(error)) throw;
        chunk.bad[static_cast<size_t>(row)] = 1;
      }
    }
  } catch (...) {
    const std::lock_guard lock(mutex);
    if (row < chunk.error_row) {
      chunk.error_row = row;
      chunk.error = std::current_exception();
    }
  }
}

bool ChunkMaker::may_leave_out(const Error& error) const noexcept {
  const ErrorKind kind = error.kind();
  return body_->settings.skip_bad &&
         (kind == ErrorKind::bad_file || kind == ErrorKind::not_found || kind == ErrorKind::unsupported);
}

void ChunkMaker::read(Chunk& chunk, int64_t from, int64_t to, const Rows& rows, int64_t row,
                      Scratch& scratch) const {
  const Source& source = *body_->source;
  if (order_) {
    const auto count = static_cast<size_t>(to - from);
    source.read(std::span(chunk.records).subspan(static_cast<size_t>(from), count), rows, row, scratch);
  } else {
    for (; from < to; ++from, ++row) source.decode(chunk.raw[static_cast<size_t>(from)], rows, row);
  }
}

// Where the changes keep the types the record is changed in its row, else in a place of its own.
void ChunkMaker::read_changed(Chunk& chunk, int64_t row, Scratch& scratch) const {
  const RecordTypes& types = body_->source->types();
  const bool in_place = types == body_->types;
  Batch apart;
  if (!in_place) shape_batch(apart, types, 1, 1);
  const Batch& batch = in_place ? chunk.batch : apart;
  const int64_t at = in_place ? row : 0;
  read(chunk, row, row + 1, in_place ? chunk.rows : rows_of(apart), at, scratch);
  Record record = record_at(batch, at);
  record.position = chunk.first + row;
  record.random = mix(epoch_, static_cast<uint64_t>(record.position));
  for (const Change& change : body_->settings.changes) change(record);
  store(record, body_->types, chunk.rows, row);
}

}  // namespace plimsoll::data

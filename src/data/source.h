// Source: where the records of a Dataset come from, one file per kind. A source either has random access
// (read) or is a stream (open, then decode), whose records come as raw bytes in order and are decoded on any
// thread. Immutable; all functions may be called from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/rows.h"
#include "memory/buffer.h"

namespace plimsoll::data {

// Bytes that grow and are charged to the account as Owner::staging.
class Bytes {
 public:
  char* data() const { return buffer_ ? static_cast<char*>(buffer_->data()) : nullptr; }
  int64_t size() const { return size_; }
  std::string_view text() const { return {data(), static_cast<size_t>(size_)}; }
  // Room for `size` bytes; what was there is lost if it must grow. Throws Error{out_of_memory}.
  char* resize(int64_t size);
  void assign(std::string_view bytes);
  void reserve(int64_t size) {
    if (size > 0) resize(size);
  }
  // Keeps what is there.
  void append(std::string_view bytes);

 private:
  std::shared_ptr<Buffer> buffer_;
  int64_t size_ = 0;
};

// A record of a stream as it was read.
struct RawRecord {
  Bytes bytes;
  int64_t place = 0;  // the source's own, for messages: a line, a number
};

// One pass over a stream. Used by one thread at a time.
class RawStream {
 public:
  virtual ~RawStream() = default;
  // False at the end.
  virtual bool next(RawRecord& record) = 0;
};

// What one thread works in while it reads records: a few byte buffers that grow and stay.
struct Scratch {
  Bytes file, image, lines, tables;
};

class Source {
 public:
  explicit Source(RecordTypes types) : types_(std::move(types)) {}
  virtual ~Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const RecordTypes& types() const { return types_; }
  // The number of records of a source with random access; nothing for a stream.
  virtual std::optional<int64_t> records() const { return std::nullopt; }
  // (optional) Whether one record can be bad while others are good; they are read one by one then. Default:
  // no.
  virtual bool can_be_bad() const { return false; }
  // (optional) How many threads decode, and how many batches ahead, if the user does not say. Default: none.
  virtual int threads() const { return 0; }
  virtual int64_t prefetch() const { return 0; }
  // (optional) What one thread takes at most to decode, as the account counts it; may look at every file.
  // Default: too little to count.
  virtual int64_t workspace() const { return 0; }
  // (optional) Tensors it keeps in memory. Default: none.
  virtual std::vector<Tensor> tensors() const { return {}; }
  // (optional) Names of the classes. Default: none.
  virtual const std::vector<std::string>& class_names() const;

  // Random access: reads the records of these numbers into rows from `row` on.
  virtual void read(std::span<const int64_t> records, const Rows& to, int64_t row, Scratch& scratch) const;
  // Streams.
  virtual std::unique_ptr<RawStream> open(int64_t epoch) const;
  virtual void decode(const RawRecord& record, const Rows& to, int64_t row) const;

 protected:
  void set_types(RecordTypes types) { types_ = std::move(types); }

 private:
  RecordTypes types_;
};

}  // namespace plimsoll::data

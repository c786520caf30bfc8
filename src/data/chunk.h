// Chunk: consecutive positions of an epoch on their way into a batch. ChunkMaker fills chunks: begin() in
// order, by one thread at a time; work() on any rows of a chunk that has begun, from several threads at once.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "data/raw_order.h"
#include "data/settings.h"
#include "plimsoll/error.h"

namespace plimsoll::data {

struct Chunk {
  Batch batch;
  Rows rows;
  int64_t first = 0;             // position of row 0 in the epoch
  int64_t count = 0;             // rows
  std::vector<int64_t> records;  // with random access
  std::vector<RawRecord> raw;    // of a stream
  std::vector<uint8_t> bad;      // by row, where bad records are left out
  std::exception_ptr error;      // the first row's that ended the reading
  int64_t error_row = INT64_MAX;
  int64_t next_row = 0;  // first that nobody works on; for the Crew
  int64_t rows_done = 0;
};

class ChunkMaker {
 public:
  // Starts at `first`, a position of the epoch.
  ChunkMaker(std::shared_ptr<const Dataset::Body> body, int64_t epoch, int64_t first);

  // Takes the next positions into `chunk`; false if there are none. Throws what the source throws.
  bool begin(Chunk& chunk);
  // How many rows one call of work() should do.
  int64_t grain() const { return grain_; }
  // Reads rows [from, to). Never throws: errors are kept in the chunk, guarded by `mutex`.
  void work(Chunk& chunk, int64_t from, int64_t to, Scratch& scratch, std::mutex& mutex) const noexcept;

 private:
  bool next_raw(RawRecord& record);
  void read(Chunk& chunk, int64_t from, int64_t to, const Rows& rows, int64_t row, Scratch& scratch) const;
  void read_changed(Chunk& chunk, int64_t row, Scratch& scratch) const;
  bool may_leave_out(const Error& error) const noexcept;

  std::shared_ptr<const Dataset::Body> body_;
  std::optional<Order> order_;
  std::unique_ptr<RawStream> stream_;  // null once it has ended
  uint64_t epoch_;
  int64_t next_;
  int64_t grain_;
  bool one_by_one_;  // so that a bad record can be told from its neighbours
};

}  // namespace plimsoll::data

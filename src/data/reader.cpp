// Batches out of chunks. As long as no record was bad a chunk is a batch and its tensors change hands; from
// the first bad record on, good rows are copied together.
#include "data/reader.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "data/crew.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

int64_t bad_rows(const Chunk& chunk) { return std::count(chunk.bad.begin(), chunk.bad.end(), uint8_t{1}); }

class Reader final : public BatchReader {
 public:
  Reader(std::shared_ptr<const Dataset::Body> body, int64_t epoch, int64_t first_batch)
      : body_(std::move(body)),
        epoch_(epoch),
        // Where bad records are left out, which position a batch starts at is known only from reading up to
        // it.
        pass_over_(body_->leaves_out() ? checked_mul(first_batch, settings().batch, "dataset") : 0),
        crew_(ChunkMaker(body_, epoch,
                         body_->leaves_out() ? 0 : checked_mul(first_batch, settings().batch, "dataset")),
              settings().reading_threads(), settings().prefetch) {}

  bool next(Batch& batch) override {
    if (error_) std::rethrow_exception(error_);
    try {
      const bool more = next_batch(batch);
      if (!more) tell();
      return more;
    } catch (...) {
      error_ = std::current_exception();
      throw;
    }
  }

  int64_t skipped() const override { return skipped_; }

 private:
  const Settings& settings() const { return body_->settings; }

  // Once: the records of later epochs are the same.
  void tell() {
    if (skipped_ == told_ || epoch_ > 0) return;
    told_ = skipped_;
    warn("dataset", skipped_,
         skipped_ == 1 ? " record could not be read and was left out"
                       : " records could not be read and were left out");
  }

  bool next_batch(Batch& batch) {
    while (pass_over_ > 0) {
      if (!refill()) return false;
      const int64_t passed = std::min(pass_over_, left());
      pass_over_ -= passed;
      drop(passed);
    }
    if (!refill()) return false;
    if (row_ == 0 && bad_ == 0 && (chunk_->count == settings().batch || !body_->leaves_out()))
      return hand_over(batch);
    return collect(batch);
  }

  // Makes sure that there is a chunk with good rows left; false at the end.
  bool refill() {
    while (chunk_ == nullptr || left() == 0) {
      if (chunk_ != nullptr) crew_.give(std::move(chunk_));
      chunk_ = crew_.take();
      if (chunk_ == nullptr) return false;
      if (chunk_->error) std::rethrow_exception(chunk_->error);
      row_ = 0;
      bad_ = bad_rows(*chunk_);
      skipped_ += bad_;
      good_left_ = chunk_->count - bad_;
    }
    return true;
  }

  int64_t left() const { return good_left_; }

  // Goes past `count` good rows of the chunk.
  void drop(int64_t count) {
    good_left_ -= count;
    for (; count > 0; ++row_) count -= chunk_->bad[static_cast<size_t>(row_)] == 0;
  }

  bool hand_over(Batch& batch) {
    if (settings().drop_remainder && chunk_->count < settings().batch) {
      drop(left());
      return false;
    }
    std::swap(batch, chunk_->batch);
    crew_.give(std::move(chunk_));
    return true;
  }

  // Copies the next good rows, from as many chunks as it takes.
  bool collect(Batch& batch) {
    shape_batch(batch, body_->types, settings().batch, settings().batch);
    const Rows rows = rows_of(batch);
    int64_t filled = 0;
    while (filled < settings().batch && refill()) {
      for (; filled < settings().batch && left() > 0; ++filled) {
        while (chunk_->bad[static_cast<size_t>(row_)] != 0) ++row_;
        copy_rows(rows, filled, chunk_->rows, row_, 1);
        drop(1);
      }
    }
    if (filled == 0 || (filled < settings().batch && settings().drop_remainder)) return false;
    shape_batch(batch, body_->types, filled, settings().batch);
    return true;
  }

  std::shared_ptr<const Dataset::Body> body_;
  int64_t epoch_;
  int64_t pass_over_;
  Crew crew_;
  std::unique_ptr<Chunk> chunk_;  // being handed out
  int64_t row_ = 0;               // its first row not yet handed out
  int64_t bad_ = 0;
  int64_t good_left_ = 0;
  int64_t skipped_ = 0, told_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::unique_ptr<BatchReader> make_reader(std::shared_ptr<const Dataset::Body> body, int64_t epoch,
                                         int64_t first_batch) {
  return std::make_unique<Reader>(std::move(body), epoch, first_batch);
}

}  // namespace plimsoll::data

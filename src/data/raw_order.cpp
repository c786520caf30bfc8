#include "data/raw_order.h"

#include <functional>
#include <utility>

#include "data/mix.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

using Open = std::function<std::unique_ptr<RawStream>(uint64_t epoch)>;

class Take final : public RawStream {
 public:
  Take(std::unique_ptr<RawStream> from, int64_t count) : from_(std::move(from)), left_(count) {}
  bool next(RawRecord& record) override { return left_ > 0 && (--left_, from_->next(record)); }

 private:
  std::unique_ptr<RawStream> from_;
  int64_t left_;
};

class Skip final : public RawStream {
 public:
  Skip(std::unique_ptr<RawStream> from, int64_t count) : from_(std::move(from)), left_(count) {}
  bool next(RawRecord& record) override {
    for (; left_ > 0; --left_) {
      if (!from_->next(record)) return false;
    }
    return from_->next(record);
  }

 private:
  std::unique_ptr<RawStream> from_;
  int64_t left_;
};

class Repeat final : public RawStream {
 public:
  Repeat(Open open, int64_t count, uint64_t epoch) : open_(std::move(open)), count_(count), epoch_(epoch) {}
  bool next(RawRecord& record) override {
    while (done_ < count_) {
      if (from_ == nullptr) from_ = open_(mix(epoch_, static_cast<uint64_t>(done_)));
      if (from_->next(record)) return true;
      from_.reset();
      ++done_;
    }
    return false;
  }

 private:
  Open open_;
  std::unique_ptr<RawStream> from_;
  int64_t count_;
  int64_t done_ = 0;
  uint64_t epoch_;
};

// Keeps `window` records; each time a random one leaves and the next of the stream takes its place.
class WindowShuffle final : public RawStream {
 public:
  WindowShuffle(std::unique_ptr<RawStream> from, int64_t window, uint64_t key)
      : from_(std::move(from)), window_(static_cast<size_t>(window)), key_(key) {}
  bool next(RawRecord& record) override {
    while (!ended_ && kept_.size() < window_) {
      if (!from_->next(spare_))
        ended_ = true;
      else
        kept_.push_back(std::exchange(spare_, RawRecord()));
    }
    if (kept_.empty()) return false;
    RawRecord& chosen = kept_[below(mix(key_, count_++), kept_.size())];
    std::swap(record, chosen);
    std::swap(chosen, kept_.back());
    spare_ = std::move(kept_.back());  // what the caller brought: its bytes are used again
    kept_.pop_back();
    return true;
  }

 private:
  std::unique_ptr<RawStream> from_;
  std::vector<RawRecord> kept_;
  RawRecord spare_;
  size_t window_;
  uint64_t key_;
  uint64_t count_ = 0;
  bool ended_ = false;
};

Open after(Open before, const OrderStep& step) {
  switch (step.kind) {
    case OrderStep::Kind::take:
      return [=](uint64_t epoch) { return std::make_unique<Take>(before(epoch), step.count); };
    case OrderStep::Kind::skip:
      return [=](uint64_t epoch) { return std::make_unique<Skip>(before(epoch), step.count); };
    case OrderStep::Kind::repeat:
      return [=](uint64_t epoch) { return std::make_unique<Repeat>(before, step.count, epoch); };
    case OrderStep::Kind::shuffle: break;
  }
  require(step.window > 0, "dataset",
          "a stream cannot be shuffled as a whole: expected shuffle(seed, window) with the ",
          "number of records to keep in memory, or in_memory() before shuffle()");
  return [=](uint64_t epoch) {
    return std::make_unique<WindowShuffle>(before(epoch), step.window, mix(step.seed, epoch));
  };
}

}  // namespace

std::unique_ptr<RawStream> open_ordered(std::shared_ptr<const Source> source,
                                        const std::vector<OrderStep>& steps, int64_t epoch) {
  Open open = [=](uint64_t) { return source->open(epoch); };
  for (const OrderStep& step : steps) open = after(std::move(open), step);
  return open(static_cast<uint64_t>(epoch));
}

}  // namespace plimsoll::data

// Order: in which order the records of a source with random access are read, as a chain of shuffle, take,
// skip and repeat over 0 .. n-1. Any position can be asked for at once, whatever the number of records.
// Immutable; may be read from several threads.
#pragma once

#include <cstdint>
#include <vector>

namespace plimsoll::data {

struct OrderStep {
  enum class Kind : uint8_t { shuffle, take, skip, repeat };
  Kind kind;
  int64_t count = 0;  // take, skip, repeat
  uint64_t seed = 0;  // shuffle
  int64_t window = 0;
};

class Order {
 public:
  // Of `records` records, by the steps in turn, for one epoch. Throws Error{invalid_argument} if the number
  // of records overflows.
  Order(int64_t records, const std::vector<OrderStep>& steps, uint64_t epoch);
  int64_t size() const { return sizes_.back(); }
  // The record at `position`. Requires: 0 <= position < size().
  int64_t operator[](int64_t position) const;

 private:
  std::vector<OrderStep> steps_;
  std::vector<int64_t> sizes_;  // sizes_[i]: records before step i
  uint64_t epoch_;
};

// How many records `steps` make of `records`. Throws Error{invalid_argument} on overflow.
int64_t size_after(int64_t records, const std::vector<OrderStep>& steps);

// Position `i` of n records shuffled in windows: windows of consecutive records in random order, each
// shuffled in itself. The cut between the first and the last window lies at a random place.
int64_t windowed(int64_t n, int64_t window, uint64_t key, int64_t i);

}  // namespace plimsoll::data

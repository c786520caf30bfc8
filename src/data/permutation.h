// Permutation: a shuffle of 0 .. n-1 that takes no memory. Element i is computed from the key when it is
// asked for, so a reader can start anywhere in it. Immutable; may be read from several threads.
#pragma once

#include <cstdint>

namespace plimsoll::data {

class Permutation {
 public:
  Permutation(int64_t n, uint64_t key);
  int64_t size() const { return n_; }
  // Requires: 0 <= i < size().
  int64_t operator[](int64_t i) const;

 private:
  int64_t n_;
  uint64_t side_ = 1;  // the numbers are written as two digits to this base
  uint64_t key_;
};

}  // namespace plimsoll::data

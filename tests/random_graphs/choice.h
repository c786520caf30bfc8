// A stream of choices from one seed.
#pragma once

#include <cstdint>

#include "support/fill.h"

namespace plimsoll::testing {

class Choice {
 public:
  explicit Choice(uint64_t seed) : seed_(seed) {}
  int64_t below(int64_t n) {
    return static_cast<int64_t>(hash_at(seed_, next_++) % static_cast<uint64_t>(n));
  }
  double real(double low, double high) { return low + (high - low) * unit_at(seed_, next_++); }
  bool coin() { return below(2) == 0; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  uint64_t seed() { return hash_at(seed_, next_++); }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

}  // namespace plimsoll::testing

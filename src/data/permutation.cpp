// A Feistel network over pairs (left, right) of digits to an even base side >= sqrt(n): each round adds a
// hash of one digit to the other, which can be undone, so the whole is a bijection of side^2 numbers whatever
// the hash (for an odd side it could only be an even permutation). Results of n and more are fed in again
// ("cycle walking"): side^2 exceeds n by less than 4 side, so that is rare.
#include "data/permutation.h"

#include <cmath>

#include "data/mix.h"

namespace plimsoll::data {
namespace {

// Six rounds pass for random; small sides need some more, as each round has few bits to give.
constexpr uint64_t kRounds = 8;
constexpr uint64_t kRoundsOfSmall = 24;
constexpr uint64_t kSmallSide = 32;

}  // namespace

Permutation::Permutation(int64_t n, uint64_t key) : n_(n), key_(key) {
  side_ = static_cast<uint64_t>(std::sqrt(static_cast<double>(n)));
  side_ += side_ % 2;
  while (side_ * side_ < static_cast<uint64_t>(n)) side_ += 2;
}

int64_t Permutation::operator[](int64_t i) const {
  const uint64_t rounds = side_ <= kSmallSide ? kRoundsOfSmall : kRounds;
  auto value = static_cast<uint64_t>(i);
  do {
    uint64_t left = value / side_;
    uint64_t right = value % side_;
    for (uint64_t round = 0; round < rounds; ++round) {
      uint64_t sum =
          left + below(mix(key_ + round * 0xA0761D6478BD642Fu + right * 0xE7037ED1A0B428DBu), side_);
      if (sum >= side_) sum -= side_;
      left = right;
      right = sum;
    }
    value = left * side_ + right;
  } while (value >= static_cast<uint64_t>(n_));
  return static_cast<int64_t>(value);
}

}  // namespace plimsoll::data

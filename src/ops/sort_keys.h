// Keys of sort and top_k: an element's value as an unsigned integer of the same order, with its place in the
// row behind it. Places differ, so any sort of them is stable, and sorting integers needs no more memory than
// they have.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "device/cpu/typed.h"

namespace plimsoll {

// NaNs come last, as in NumPy; -0 and 0 are equal.
template <class T>
auto ordered(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    if (std::isnan(x)) return ~U{0};
    const U bits = std::bit_cast<U>(x == 0 ? T(0) : x);
    return bits & kSign ? static_cast<U>(~bits) : static_cast<U>(bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(static_cast<U>(x) ^ (U{1} << (8 * sizeof(U) - 1)));
  } else {
    return x;
  }
}

template <class K>
struct SortKey {  // of 64-bit elements
  K key;
  uint32_t place;
  bool operator<(const SortKey& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
  static SortKey make(K key, uint32_t place) { return {key, place}; }
};

template <class K>
requires(sizeof(K) <= 4) struct SortKey<K> {  // of smaller ones: both in one integer
  uint64_t both;
  bool operator<(const SortKey& other) const { return both < other.both; }
  static SortKey make(K key, uint32_t place) { return {uint64_t{key} << 32 | place}; }
};

template <class T>
using KeyOf = SortKey<decltype(ordered(typename Loaded<T>::type{}))>;

template <class K>
uint32_t place_of(const SortKey<K>& k) {
  if constexpr (sizeof(K) <= 4)
    return static_cast<uint32_t>(k.both);
  else
    return k.place;
}

}  // namespace plimsoll

#include "support/sums.h"

#include <cstring>

#include "support/fill.h"

namespace plimsoll::testing {
namespace {

constexpr uint64_t kWeightsSeed = 42;
double weight(int64_t i) { return 2 * unit_at(kWeightsSeed, static_cast<uint64_t>(i)) - 1; }
uint64_t integer_weight(int64_t i) { return hash_at(kWeightsSeed, static_cast<uint64_t>(i)) | 1; }

uint64_t integer_element(const Tensor& t, int64_t i) {
  const size_t item = size_of(t.dtype());
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const char*>(t.data()) + i * static_cast<int64_t>(item), item);
  const int unused = static_cast<int>(64 - 8 * item);  // the sign is carried up
  return is_signed_int(t.dtype()) ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
                                  : value;
}

template <class T, class F>
std::vector<T> sums_of(const Tensor& t, int64_t count, const F& term) {
  const int64_t size = parts(t);
  std::vector<T> sums(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t i = k * size / count; i < (k + 1) * size / count; ++i)
      sums[static_cast<size_t>(k)] += term(i);
  }
  return sums;
}

}  // namespace

std::vector<double> weighed_sums(const Tensor& t, int64_t count) {
  return sums_of<double>(t, count, [&](int64_t i) { return element(t, i) * weight(i); });
}

std::vector<uint64_t> weighed_integer_sums(const Tensor& t, int64_t count) {
  return sums_of<uint64_t>(t, count, [&](int64_t i) { return integer_element(t, i) * integer_weight(i); });
}

}  // namespace plimsoll::testing

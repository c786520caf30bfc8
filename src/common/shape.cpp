#include "plimsoll/shape.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// More than any system has bytes; a few times as many, and the bytes they take, can still be counted.
constexpr int64_t kMostElements = int64_t{1} << 56;

}  // namespace

int64_t checked_mul(int64_t a, int64_t b, std::string_view place) {
  int64_t product = 0;
  require(!__builtin_mul_overflow(a, b, &product), place, "a size overflows 64 bits: ", a, " x ", b);
  return product;
}

Shape::Shape(std::initializer_list<int64_t> sizes)
    : Shape(std::span<const int64_t>(sizes.begin(), sizes.size())) {}

Shape::Shape(std::span<const int64_t> sizes) {
  require(sizes.size() <= kMaxRank, "shape", "expected at most ", kMaxRank, " axes, got ", sizes.size());
  rank_ = static_cast<int>(sizes.size());
  int64_t product = 1;  // of all that are not 0: shape rules and kernels multiply some of the sizes alone
  for (size_t i = 0; i < sizes.size(); ++i) {
    require(sizes[i] >= 0, "shape", "expected sizes of at least 0, got ", sizes[i], " for axis ", i);
    sizes_[i] = sizes[i];
    if (sizes[i] == 0)
      elements_ = 0;
    else
      product = checked_mul(product, sizes[i], "shape");
  }
  require(product <= kMostElements, "shape", "expected at most ", kMostElements, " elements, got ", product);
  elements_ *= product;
}

int64_t Shape::dim(int axis) const { return (*this)[normalize_axis(axis, rank_, "shape")]; }

Shape Shape::with(int axis, int64_t size) const {
  auto sizes = sizes_;
  sizes[static_cast<size_t>(normalize_axis(axis, rank_, "shape"))] = size;
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank_)));
}

Shape Shape::without(int axis) const {
  const int at = normalize_axis(axis, rank_, "shape");
  std::array<int64_t, kMaxRank> sizes{};
  std::copy(begin(), begin() + at, sizes.begin());
  std::copy(begin() + at + 1, end(), sizes.begin() + at);
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank_ - 1)));
}

Shape Shape::inserted(int axis, int64_t size) const {
  require(rank_ < kMaxRank, "shape", "expected at most ", kMaxRank, " axes, got ", rank_ + 1);
  const int at = normalize_axis(axis, rank_ + 1, "shape");
  std::array<int64_t, kMaxRank> sizes{};
  std::copy(begin(), begin() + at, sizes.begin());
  sizes[static_cast<size_t>(at)] = size;
  std::copy(begin() + at, end(), sizes.begin() + at + 1);
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank_ + 1)));
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

std::string Shape::str() const {
  std::string s = "(";
  for (int i = 0; i < rank_; ++i) s += (i ? ", " : "") + std::to_string((*this)[i]);
  return s + (rank_ == 1 ? ",)" : ")");
}

int normalize_axis(int64_t axis, int rank, std::string_view place) {
  require(axis >= -rank && axis < rank, place, "expected an axis in [", -rank, ", ", rank, "), got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view place) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, Shape::kMaxRank> sizes{};
  for (int i = 0; i < rank; ++i) {
    const int64_t x = i < rank - a.rank() ? 1 : a[i - (rank - a.rank())];
    const int64_t y = i < rank - b.rank() ? 1 : b[i - (rank - b.rank())];
    require(x == y || x == 1 || y == 1, place, "expected shapes that broadcast, got ", a, " and ", b);
    sizes[static_cast<size_t>(i)] = x == 1 ? y : x;
  }
  return Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank)));
}

int64_t byte_size(DType type, const Shape& shape) {
  return checked_mul(static_cast<int64_t>(size_of(type)), shape.elements(), "shape");
}

}  // namespace plimsoll

// Shape: the sizes of a tensor's axes. Sizes are static and never negative, the number of elements is
// checked against overflow when the shape is made, and no Shape allocates.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "plimsoll/dtype.h"

#pragma GCC visibility push(default)
namespace plimsoll {

class Shape {
 public:
  static constexpr int kMaxRank = 8;

  Shape() = default;  // a scalar
  // Throws Error{invalid_argument} if a size is negative, the rank is over kMaxRank, or the number of
  // elements does not fit 63 bits.
  Shape(std::initializer_list<int64_t> sizes);
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  int64_t elements() const { return elements_; }
  // Requires: 0 <= axis < rank().
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  // A negative axis counts from the end. Throws if there is no such axis.
  int64_t dim(int axis) const;
  std::span<const int64_t> sizes() const { return {sizes_.data(), static_cast<size_t>(rank_)}; }
  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + rank_; }

  // The same shape with one axis set, removed, or put in.
  Shape with(int axis, int64_t size) const;
  Shape without(int axis) const;
  Shape inserted(int axis, int64_t size) const;

  bool operator==(const Shape& other) const;
  std::string str() const;  // "(32, 10)"

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  int64_t elements_ = 1;
  int rank_ = 0;
};

// The axis as 0 <= axis < rank; throws Error{invalid_argument} naming `place`.
int normalize_axis(int64_t axis, int rank, std::string_view place);
// NumPy's rule. Throws Error{invalid_argument} naming `place` if the shapes do not fit.
Shape broadcast(const Shape& a, const Shape& b, std::string_view place);
// Bytes of a dense tensor. Throws if they do not fit 63 bits.
int64_t byte_size(DType type, const Shape& shape);
// a * b of sizes that are not negative; throws Error{invalid_argument} on overflow.
int64_t checked_mul(int64_t a, int64_t b, std::string_view place);

}  // namespace plimsoll
#pragma GCC visibility pop

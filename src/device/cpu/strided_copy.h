// Copies a box of elements from one layout to another: transpose, slice, reverse, pad and concatenate are
// all this. Made once for fixed shapes; run() may be called from any thread.
#pragma once

#include <array>
#include <cstdint>

#include "plimsoll/shape.h"

namespace plimsoll {

class StridedCopy {
 public:
  using Strides = std::array<int64_t, Shape::kMaxRank>;

  StridedCopy() = default;
  // Strides are in elements of `size` bytes (1, 2, 4, 8 or 16), and may be negative in the source.
  StridedCopy(const Shape& box, const Strides& to, const Strides& from, size_t size, int threads);

  // The pointers are those of the box's first element. Nothing may overlap.
  void run(void* to, const void* from) const;

 private:
  template <class T>
  void run_as(T* to, const T* from) const;
  template <class T>
  void rows(int64_t begin, int64_t end, T* to, const T* from) const;
  template <class T>
  void planes(int64_t begin, int64_t end, T* to, const T* from) const;
  void choose();

  int rank_ = 0;
  Strides dims_{}, to_{}, from_{};
  size_t size_ = 1;
  int threads_ = 1;
  int64_t total_ = 0;
  int across_ = -1;  // the axis that is dense in the source where the last one is not: copied in blocks
};

// Row-major strides of a shape.
StridedCopy::Strides row_major(const Shape& shape);

}  // namespace plimsoll

// Text of kernels in which a warp, or a block for long rows, has one row of a matrix in its registers.
#pragma once

#include <string>
#include <vector>

#include "build.h"

namespace plimsoll::cuda {

class RowText {
 public:
  // Rows of n elements, computed in the type that `dtype` is computed in. `largest`: size in bytes of the
  // largest elements that are read or written along them.
  RowText(int64_t rows, int64_t n, DType dtype, size_t largest);
  static bool holds(int64_t n) { return n >= 1 && n <= kMostBlock; }

  // Declares `name`, the row of argument `argument`: each thread has some elements of it, at columns `c`.
  std::string read(std::string_view name, size_t argument, DType t) const;
  // The same for a vector that all rows share.
  std::string read_shared(std::string_view name, size_t argument, DType t) const;
  // `body` for each element i of the thread (name[i], column c).
  std::string each(std::string_view body) const;
  // Declares `name`: `value` of all elements (an expression of i) put together by `combine` of a and b.
  std::string fold(std::string_view name, std::string_view start, std::string_view value,
                   std::string_view combine) const;
  std::string sum(std::string_view name, std::string_view value) const {
    return fold(name, "0", value, "a + b");
  }
  std::string largest(std::string_view name, std::string_view value) const {
    return fold(name, "-INFINITY", value, "b != b || b > a ? b : a");
  }
  // Writes `value`, an expression of i, to the row of an argument.
  std::string write(size_t argument, DType t, std::string_view value) const;
  // Writes one value per row.
  std::string write_one(size_t argument, DType t, std::string_view value) const;
  std::string_view type() const;

  void launch(Build& b, const std::vector<DType>& types, size_t outputs, std::string_view body,
              std::vector<Ref> args) const;

 private:
  static constexpr int64_t kMostWarp = 2048, kMostBlock = 16384;

  std::string columns(std::string_view body) const;
  std::string read_at(std::string_view name, size_t argument, DType t, std::string_view base) const;

  int64_t rows_, n_;
  DType dtype_;
  int64_t width_ = 1, threads_, rows_per_block_, steps_;
};

}  // namespace plimsoll::cuda

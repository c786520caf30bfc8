// Text of the product that every step of a recurrent layer makes: 16 rows (sequences) by a slice of the
// weights that stays in a block for the whole sequence. K is split among the 8 warps of the block, whose
// partial sums meet in shared memory. Two forms: with tensor cores the slice is in registers; the exact one
// has it in shared memory and adds in float32.
#pragma once

#include <string>

#include "build.h"

namespace plimsoll::cuda {

struct RnnProduct {
  static constexpr int64_t kRows = 16, kUnits = 16, kThreads = 256, kWarps = 8;

  DType dtype;   // of the rows and the weights
  int64_t k, n;  // n: 64 or 16
  bool tensor_cores;
  std::string weight;  // the stored weight at (k, n)

  // Bytes of dynamic shared memory.
  int64_t shared_bytes() const;
  // Functions before the kernel, the beginning of its body, and one product: of the rows that begin at
  // `rows` and lie `stride` elements apart, `count` of which are there. sum() is then an element of it. With
  // tensor cores k must be a multiple of 128.
  std::string functions() const;
  std::string prepare() const;
  std::string multiply(std::string_view rows, std::string_view stride) const;
  std::string sum(std::string_view row, std::string_view column) const;

 private:
  int64_t part_stride() const { return n + 8; }
  int64_t part_floats() const { return kWarps * kRows * part_stride(); }
  int64_t chunk() const;
  int64_t piece() const;  // elements that a thread reads at once, with tensor cores
  std::string multiply_exact(std::string_view rows, std::string_view stride) const;
  std::string multiply_tensor(std::string_view rows, std::string_view stride) const;
};

// A barrier of the `blocks` that share the counter `at`, passed for the `round`th time.
std::string blocks_meet(std::string_view at, int64_t blocks, std::string_view round);

}  // namespace plimsoll::cuda

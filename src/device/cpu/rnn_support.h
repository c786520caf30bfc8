// What the kernels of recurrent layers share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <variant>

#include "device/aligned.h"
#include "device/cpu/gemm.h"
#include "device/cpu/half_gemm.h"
#include "device/cpu/panel_gemm.h"
#include "plimsoll/dtype.h"

namespace plimsoll {

struct RnnSizes {
  DType dtype = DType::f32;
  int64_t batch = 0, time = 0, features = 0, units = 0;
  bool reverse = false;  // steps run from the last to the first; outputs stay beside their inputs
  int threads = 1;

  // What is computed in: halves in f32.
  DType wide() const { return dtype == DType::f64 ? DType::f64 : DType::f32; }
  int64_t wide_size() const { return static_cast<int64_t>(size_of(wide())); }
  int64_t rows() const { return batch * time; }
  // Batch rows one thread takes through all steps. As many for each thread: a step of fewer than 3 rows takes
  // as long as one of 3, its weights having to be read. Rows are independent, so the cut changes no bit.
  int64_t block() const {
    const int64_t most = std::clamp<int64_t>(batch / 3, 1, step_threads());
    return std::clamp<int64_t>(divide_up(batch, most), 1, 48);
  }
  int64_t blocks() const { return divide_up(batch, block()); }
  // The threads worth waking for the recurrent part.
  int step_threads() const {
    return static_cast<double>(rows() * units) * static_cast<double>(units) < 2e5 ? 1 : threads;
  }
  // The index in time of step s, and of the step before it (outside [0, time) for the first).
  int64_t at(int64_t s) const { return reverse ? time - 1 - s : s; }
  int64_t before(int64_t t) const { return reverse ? t + 1 : t - 1; }
};

// Pieces of scratch, one after the other, in whole cache lines.
inline int64_t take_bytes(int64_t& end, int64_t bytes) {
  const int64_t at = end;
  end += aligned(bytes);
  return at;
}
inline char* bytes_at(void* scratch, int64_t offset) { return static_cast<char*>(scratch) + offset; }

// The products over all steps at once, for a layer of `gates` gates: x . kernel + bias, which may be halves,
// as what is computed in; the gradient of a weight that meets n inputs, (n x rows) . (rows x gates u); the
// gradient of x.
std::variant<Gemm, HalfGemm> input_projection(const RnnSizes& s, int64_t gates);
Gemm weight_gradient(const RnnSizes& s, int64_t gates, int64_t n);
Gemm input_gradient(const RnnSizes& s, int64_t gates);

// sums[j] = sum over i of x[i * n + j], in an order that depends on `rows` alone.
void column_sums(DType dtype, const void* x, int64_t rows, int64_t n, void* sums, int threads);

}  // namespace plimsoll

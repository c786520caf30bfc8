// HalfGemm: C = act(A . B + bias) with operands and result of f16, bf16 or f32, at least one of them a half.
// Blocks of A and B are widened to f32 as they are packed, a tile of C is summed in f32 and rounded once: no
// operand is ever there as f32 as a whole. Otherwise as Gemm, with results that are the same for every number
// of threads.
#pragma once

#include <string>

#include "device/cpu/gemm_plan.h"

namespace plimsoll {

struct HalfTypes {
  DType a = DType::f32, b = DType::f32, c = DType::f32, bias = DType::f32;
};

class HalfGemm {
 public:
  // Of `problem` the dtype is not read. Requires: !problem.accumulate.
  HalfGemm(const GemmProblem& problem, const HalfTypes& types);

  int64_t scratch_bytes() const { return piece_ * p_.threads; }
  int threads() const { return p_.threads; }
  std::string name() const;  // "highway gemm:avx2 of halves"
  // As Gemm::run().
  void run(const void* a, const void* b, const void* bias, void* c, void* scratch) const;

 private:
  struct Cell;
  void choose_grid();
  void choose_blocks();

  GemmProblem p_;
  HalfTypes types_;
  int64_t mr_, nr_;                          // of the f32 kernels
  int64_t row_chunks_ = 1, col_chunks_ = 1;  // how one item is split over threads
  int64_t kc_ = 0, mc_ = 0, nc_ = 0;
  int64_t b_at_ = 0, tile_at_ = 0, bias_at_ = 0;  // in a thread's scratch, in bytes; packed A begins it
  int64_t piece_ = 0;                             // bytes of scratch per thread
};

}  // namespace plimsoll

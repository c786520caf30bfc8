// Gemm: C = act(A . B + bias) for float and double, batched, with A and B read through strides, so that
// no transposed copy is ever made. Made once for a problem of fixed size, run many times; run()
// allocates nothing. Sums run over k in an order that depends on the problem alone: results are the
// same for every number of threads. Immutable; may be run from several threads, each with scratch of
// its own.
#pragma once

#include <string>

#include "device/cpu/gemm_plan.h"

namespace plimsoll {

class Gemm {
 public:
  // Throws Error{unsupported} for other dtypes than f32 and f64.
  explicit Gemm(const GemmProblem& problem) : plan_(plan_gemm(problem)) {}

  int64_t scratch_bytes() const { return plan_.scratch; }
  int threads() const { return plan_.problem.threads; }  // fewer than asked for if there is little work
  std::string name() const;                              // "highway gemm:avx2"
  // `bias` may be null if the problem has none. Scratch is 64-byte aligned.
  void run(const void* a, const void* b, const void* bias, void* c, void* scratch) const;

 private:
  GemmPlan plan_;
};

// The Highway target of the kernels that are made now: "avx2".
std::string highway_target();

}  // namespace plimsoll

// Keras's LSTM over a whole sequence, of any float type, and its gradient, f32 and f64. What is saved for the
// gradient is f32 for halves, as is all that is computed; only x, y, weights and states are halves. Made once
// for fixed sizes, run many times; run() allocates nothing. The work is cut by batch rows: a thread takes its
// rows through all steps, so threads never wait for each other, and their number changes no bit. The products
// with the input weights are part of the steps where there are enough rows to make good use of a panel of
// weights, else one Gemm over all steps.
#pragma once

#include <cstdint>

#include "device/cpu/gemm.h"
#include "device/cpu/rnn_support.h"

namespace plimsoll {

class LstmForward {
 public:
  explicit LstmForward(const RnnSizes& sizes);
  int64_t scratch_bytes() const { return scratch_; }

  struct Args {
    const void *x, *h0, *c0, *kernel, *recurrent, *bias;
    void *y, *h_last, *c_last;  // (batch, time, u), (batch, u), (batch, u)
    void *gates, *cells;        // (batch, time, 4u) after activation and (batch, time, u): for the gradient
  };
  void run(const Args& args, void* scratch) const;

 private:
  RnnSizes s_;
  bool by_step_;  // x . kernel is computed step by step
  std::variant<Gemm, HalfGemm> project_;
  // Offsets in scratch.
  int64_t packed_ = 0, packed_kernel_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;
  int64_t scratch_ = 0;
};

class LstmBackward {
 public:
  LstmBackward(const RnnSizes& sizes, bool wants_dx);
  int64_t scratch_bytes() const { return scratch_; }

  struct Args {
    const void *x, *h0, *c0, *kernel, *recurrent, *y, *gates, *cells;
    const void *dy, *dh_last, *dc_last;  // (optional) null: zero
    void *dh0, *dc0, *dkernel, *drecurrent, *dbias;
    void* dx;  // (optional) null if !wants_dx
  };
  void run(const Args& args, void* scratch) const;

 private:
  RnnSizes s_;
  bool by_step_;  // dx is computed step by step
  Gemm for_kernel_, for_recurrent_, for_x_;
  // Offsets in scratch.
  int64_t packed_ = 0, packed_kernel_ = 0, dz_ = 0, before_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;
  int64_t scratch_ = 0;
};

}  // namespace plimsoll

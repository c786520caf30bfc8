// Keras's LSTM over a whole sequence and its gradient, f32 and f64. Made once for fixed sizes, run many times;
// run() allocates nothing. The products with the input weights are one Gemm over all steps. The recurrent part
// is cut by batch rows, so threads never wait for each other between steps, and their number changes no bit.
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
  Gemm project_;
  int64_t packed_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;  // offsets in scratch
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
  Gemm for_kernel_, for_recurrent_, for_x_;
  int64_t packed_ = 0, dz_ = 0, before_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;  // offsets in scratch
  int64_t scratch_ = 0;
};

}  // namespace plimsoll

// Keras's GRU (reset_after) over a whole sequence, of any float type, and its gradient, f32 and f64; made and
// run as in lstm_kernels.h.
#pragma once

#include <cstdint>

#include "device/cpu/gemm.h"
#include "device/cpu/rnn_support.h"

namespace plimsoll {

class GruForward {
 public:
  explicit GruForward(const RnnSizes& sizes);
  int64_t scratch_bytes() const { return scratch_; }

  struct Args {
    const void *x, *h0, *kernel, *recurrent, *bias;  // bias: (2, 3u), of the input's part and of the state's
    void *y, *h_last;                                // (batch, time, u), (batch, u)
    void *gates,
        *inner;  // (batch, time, 3u) after activation; (batch, time, u): h . U_h + bias, before the reset
  };
  void run(const Args& args, void* scratch) const;

 private:
  RnnSizes s_;
  std::variant<Gemm, HalfGemm> project_;
  int64_t packed_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;  // offsets in scratch
  int64_t scratch_ = 0;
};

class GruBackward {
 public:
  GruBackward(const RnnSizes& sizes, bool wants_dx);
  int64_t scratch_bytes() const { return scratch_; }

  struct Args {
    const void *x, *h0, *kernel, *recurrent, *y, *gates, *inner;
    const void *dy, *dh_last;  // (optional) null: zero
    void *dh0, *dkernel, *drecurrent, *dbias;
    void* dx;  // (optional) null if !wants_dx
  };
  void run(const Args& args, void* scratch) const;

 private:
  RnnSizes s_;
  Gemm for_kernel_, for_recurrent_, for_x_;
  // Offsets in scratch.
  int64_t packed_ = 0, dz_input_ = 0, dz_state_ = 0, before_ = 0, local_ = 0, local_bytes_ = 0, gemm_ = 0;
  int64_t scratch_ = 0;
};

}  // namespace plimsoll

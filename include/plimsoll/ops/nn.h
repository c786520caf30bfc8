// Library-sized ops of neural networks. Images are channels-last: (N, spatial..., C); kernels are Keras's
// (spatial..., C_in / groups, C_out).
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct ConvOptions {
  Ints strides = {};  // per spatial axis; empty: 1
  Ints pad_low = {};  // empty: 0; may be negative only through pad()
  Ints pad_high = {};
  Ints lhs_dilation = {};  // of the input: > 1 makes a transposed convolution
  Ints rhs_dilation = {};  // of the kernel
  int64_t groups = 1;
};
Tensor conv(const Tensor& x, const Tensor& kernel, const ConvOptions& options = {});
// act(conv + bias); activation as in dense().
Tensor conv_bias(const Tensor& x, const Tensor& kernel, const Tensor& bias, const ConvOptions& options,
                 std::string_view activation = "linear");
// The pads (low, high) that Keras's padding="same" means for one axis.
std::pair<int64_t, int64_t> same_padding(int64_t size, int64_t window, int64_t stride, int64_t dilation = 1);

struct PoolOptions {
  Ints window = {};
  Ints strides = {};  // empty: the window
  Ints pad_low = {};
  Ints pad_high = {};
};
Tensor max_pool(const Tensor& x, const PoolOptions& options);
Tensor average_pool(const Tensor& x, const PoolOptions& options);  // padding is not counted, as in Keras

// Training: {y, mean, variance}, statistics of this batch over all axes but the last.
std::vector<Tensor> batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon);
// With given statistics: (x - mean) / sqrt(variance + epsilon) * gamma + beta.
Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma,
                            const Tensor& beta, double epsilon);
// Over the last axis.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon);

Tensor softmax(const Tensor& x, int axis = -1);
Tensor log_softmax(const Tensor& x, int axis = -1);
// Per row of logits (..., classes): -log softmax(logits)[label]; labels are integers (...).
Tensor sparse_softmax_cross_entropy(const Tensor& logits, const Tensor& labels);
// -sum(targets * log softmax(logits)) per row.
Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& targets);
Tensor sigmoid_cross_entropy(const Tensor& logits, const Tensor& targets);  // element-wise, stable

// rows of table (vocabulary, width) at integer indices.
Tensor embedding(const Tensor& table, const Tensor& indices);

// Keras's LSTM over x (batch, time, features): kernel (features, 4u), recurrent (u, 4u), bias (4u), gates
// i, f, c, o. Returns {all outputs (batch, time, u), last h, last c}.
std::vector<Tensor> lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const Tensor& kernel,
                         const Tensor& recurrent, const Tensor& bias, bool reverse = false);
// Keras's GRU with reset_after=True: bias (2, 3u), gates z, r, h. Returns {all outputs, last h}.
std::vector<Tensor> gru(const Tensor& x, const Tensor& h0, const Tensor& kernel, const Tensor& recurrent,
                        const Tensor& bias, bool reverse = false);

// softmax(q k^T * scale + bias) v on (batch, time, heads, width); bias (optional: an undefined Tensor)
// broadcasts to (batch, heads, time_q, time_k). causal: a query sees no later key.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias, double scale,
                 bool causal = false);

}  // namespace plimsoll
#pragma GCC visibility pop

// Recurrent layers over (batch, time, features), and wrappers around layers.
// Initial states are given as further inputs: lstm({x, h, c}), or by name as "initial_state".
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct RecurrentOptions {
  std::string activation = "tanh";
  std::string recurrent_activation = "sigmoid";  // LSTM, GRU
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;  // LSTM
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  bool reset_after = true;  // GRU
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;  // needs an Input with a batch_size
  bool unroll = false;    // changes nothing here
  bool zero_output_for_mask = false;
  std::optional<int64_t> seed = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer SimpleRNN(int64_t units, const RecurrentOptions& options = {});
Layer LSTM(int64_t units, const RecurrentOptions& options = {});
Layer GRU(int64_t units, const RecurrentOptions& options = {});
// A stateful layer starts from zeros again. Throws if it is not a recurrent layer.
void reset_state(const Layer& rnn);

struct BidirectionalOptions {
  std::optional<std::string> merge_mode = "concat";  // "sum", "mul", "ave"; none: two outputs
  Layer backward_layer = {};                         // none: a copy that runs backwards
  std::string name = {};
  PolicyName dtype = {};
};
// The layer is copied, as in Keras: its weights are not shared.
Layer Bidirectional(const Layer& rnn, const BidirectionalOptions& options = {});

struct WrapperOptions {
  std::string name = {};
  PolicyName dtype = {};
};
// The layer on each time step of (batch, time, ...).
Layer TimeDistributed(const Layer& layer, const WrapperOptions& options = {});

// One step of a recurrent layer, for RNN: SimpleRNN(8) is RNN(SimpleRNNCell(8)). The options that are about
// whole sequences are not looked at.
Layer SimpleRNNCell(int64_t units, const RecurrentOptions& options = {});
Layer LSTMCell(int64_t units, const RecurrentOptions& options = {});
Layer GRUCell(int64_t units, const RecurrentOptions& options = {});
// Cells of which each sees what the one before it gives.
Layer StackedRNNCells(std::vector<Layer> cells, const WrapperOptions& options = {});

struct RNNOptions {
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  bool unroll = false;  // changes nothing here
  bool zero_output_for_mask = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer RNN(const Layer& cell, const RNNOptions& options = {});

// An LSTM whose products are convolutions: (batch, time, rows, columns, channels) in two dimensions.
struct ConvLSTMOptions {
  Dims strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Dims dilation_rate = 1;
  std::string activation = "tanh";
  std::string recurrent_activation = "sigmoid";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  bool unit_forget_bias = true;
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint recurrent_constraint = {};
  Constraint bias_constraint = {};
  double dropout = 0.0;
  double recurrent_dropout = 0.0;
  std::optional<int64_t> seed = {};
  bool return_sequences = false;
  bool return_state = false;
  bool go_backwards = false;
  bool stateful = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer ConvLSTM1D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options = {});
Layer ConvLSTM2D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options = {});
Layer ConvLSTM3D(int64_t filters, Dims kernel_size, const ConvLSTMOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

// Convolutions. Images are channels-last: (batch, rows, columns, channels).
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

struct ConvLayerOptions {
  Dims strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Dims dilation_rate = 1;
  int64_t groups = 1;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
};
Layer Conv2D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options = {});

}  // namespace plimsoll

// Convolutions. Images are (batch, rows, columns, channels), or with data_format "channels_first"
// (batch, channels, rows, columns). One size stands for all axes: kernel_size 3 is {3, 3}.
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct ConvLayerOptions {
  Dims strides = 1;
  std::string padding = "valid";  // "same"; "causal" for one axis
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
  PolicyName dtype = {};
};
Layer Conv1D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options = {});
Layer Conv2D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options = {});
Layer Conv3D(int64_t filters, Dims kernel_size, const ConvLayerOptions& options = {});

struct ConvTransposeOptions {
  Dims strides = 1;
  std::string padding = "valid";
  Dims output_padding = {};  // empty: as Keras finds it
  std::string data_format = "channels_last";
  Dims dilation_rate = 1;
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
  PolicyName dtype = {};
};
Layer Conv1DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options = {});
Layer Conv2DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options = {});
Layer Conv3DTranspose(int64_t filters, Dims kernel_size, const ConvTransposeOptions& options = {});

struct DepthwiseConvOptions {
  Dims strides = 1;
  std::string padding = "valid";
  int64_t depth_multiplier = 1;
  std::string data_format = "channels_last";
  Dims dilation_rate = 1;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer DepthwiseConv1D(Dims kernel_size, const DepthwiseConvOptions& options = {});
Layer DepthwiseConv2D(Dims kernel_size, const DepthwiseConvOptions& options = {});

struct SeparableConvOptions {
  Dims strides = 1;
  std::string padding = "valid";
  std::string data_format = "channels_last";
  Dims dilation_rate = 1;
  int64_t depth_multiplier = 1;
  std::string activation = "linear";
  bool use_bias = true;
  Initializer depthwise_initializer = "glorot_uniform";
  Initializer pointwise_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint pointwise_constraint = {};
  Constraint bias_constraint = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer SeparableConv1D(int64_t filters, Dims kernel_size, const SeparableConvOptions& options = {});
Layer SeparableConv2D(int64_t filters, Dims kernel_size, const SeparableConvOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

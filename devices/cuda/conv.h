// The shape of a convolution; conv.cpp says what it computes.
#pragma once

#include "build.h"

namespace plimsoll::cuda {

struct ConvGeometry {
  ConvGeometry(const Node& node, const Type& x, const Type& kernel, const Type& y);

  size_t rank;  // spatial axes
  int64_t batch, channels, filters, groups;
  Sizes in, window, out, stride, low, high, in_dilation, dilation;

  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
};

enum class ConvKind { forward, grad_input, grad_filter };

// Lowers the node to cuDNN, with the kernel's axes as cuDNN wants them in scratch. False, with nothing added,
// if cuDNN is not there or has no engine for it.
bool add_cudnn_conv(Build& b, ConvKind kind, const ConvGeometry& g);

}  // namespace plimsoll::cuda

// The shape of a convolution; conv.cpp says what it computes.
#pragma once

#include <array>

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

// What follows the convolution in a node conv_bias: act(conv * scale + bias + residual). Inputs of the node,
// -1 where there is none.
struct ConvEnds {
  int bias = -1, scale = -1, residual = -1;
  bool relu = false;
};

// Lowers the convolution of a node to cuDNN, with the kernel's axes as cuDNN wants them in scratch, times the
// scale. False, with nothing added, if cuDNN is not there or has no engine for it.
bool add_cudnn_conv(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends = {});

// The convolution itself, of a geometry with as much padding behind x as before it, on x, kernel (K,
// window..., channels) and y. False, with nothing added, if cuDNN is not there or has no engine for it.
bool add_cudnn(Build& b, ConvKind kind, const ConvGeometry& g, const std::array<Ref, 3>& tensors);
// The same as add_cudnn_conv() over blocks of points, where has_blocks() says that this may be faster. False:
// what it has added is of no use.
bool has_blocks(const ConvGeometry& g, ConvKind kind);
bool add_block_conv(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends);
// The gradient of a kernel of few channels by a kernel of our own, where there are enough points.
bool has_few_channels(const ConvGeometry& g, ConvKind kind, DType t);
void add_channels_conv(Build& b, const ConvGeometry& g);
// Whether cuBLASLt may make it, with what follows in the same call.
bool may_be_product(const ConvGeometry& g, ConvKind kind, DType t);
// By cuBLASLt or by cuDNN, whichever is faster, with what follows. False: the node is to do it itself.
bool add_library_conv(Build& b, ConvKind kind, const ConvGeometry& g, const ConvEnds& ends = {});
// act(out * scale + bias + residual) in the bytes of out; scaled: without the scale, which the kernel has.
void add_ends(Build& b, const ConvEnds& ends, bool scaled);

}  // namespace plimsoll::cuda

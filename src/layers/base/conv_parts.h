// What the convolutions have in common: checks and the pads of Keras's words for them.
#pragma once

#include "layers/base/parts.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {

// Keras's numbers, one per axis.
struct ConvWindow {
  Ints size, strides, dilation;
};
// Throws naming `place` if a size is not positive, or strides and dilation are both above 1.
ConvWindow conv_window(std::string_view place, int rank, const Dims& kernel_size, const Dims& strides,
                       const Dims& dilation_rate);
// The input with its channels last, and the result as the input was. Throws unless there are `rank` axes
// beside batch and channels.
Tensor conv_input(std::string_view place, int rank, std::string_view data_format, const Tensor& input);
Tensor conv_result(std::string_view place, std::string_view data_format, const Tensor& y);
// For x channels-last. padding: "valid", "same" or (where allowed) "causal". Throws if nothing is left of the
// input.
ConvOptions conv_options(std::string_view place, const Tensor& x, const ConvWindow& w,
                         std::string_view padding, int64_t groups);

}  // namespace plimsoll

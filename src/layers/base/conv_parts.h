// What the convolutions have in common: checks and the pads of Keras's words for them.
#pragma once

#include "layers/base/parts.h"
#include "plimsoll/ops/nn.h"

namespace plimsoll {

struct ConvGeometry {
  Ints window, strides, dilation;
};
// Throws naming `place` if a size is not positive, or strides and dilation are both above 1.
ConvGeometry conv_geometry(std::string_view place, int rank, const Dims& kernel_size, const Dims& strides,
                           const Dims& dilation_rate);
// For x channels-last. padding: "valid", "same" or (where allowed) "causal". Throws if nothing is left of the
// input.
ConvOptions conv_options(std::string_view place, const Tensor& x, const ConvGeometry& g,
                         std::string_view padding, int64_t groups);

}  // namespace plimsoll

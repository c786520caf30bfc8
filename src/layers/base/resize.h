// Images of another size, as jax.image.resize makes them (and with it Keras's JAX backend).
#pragma once

#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll {

// x is (batch, rows, columns, channels). interpolation: "nearest", "bilinear", "bicubic", "lanczos3",
// "lanczos5". Throws naming `place`. The result has x's dtype, or float32 if that is an integer and must be
// interpolated.
Tensor resize_images(const Tensor& x, int64_t rows, int64_t columns, std::string_view interpolation,
                     bool antialias, std::string_view place);

}  // namespace plimsoll

// The ops of this device, by subject.
#pragma once

#include <span>

#include "build.h"

namespace plimsoll::cuda {

std::span<const Op> move_ops();
std::span<const Op> index_ops();
std::span<const Op> row_ops();
std::span<const Op> window_ops();
std::span<const Op> conv_ops();
std::span<const Op> random_ops();
std::span<const Op> fourier_ops();
std::span<const Op> product_ops();
std::span<const Op> matrix_ops();
std::span<const Op> control_ops();
std::span<const Op> normal_ops();
std::span<const Op> recurrent_ops();
std::span<const Op> attention_ops();
std::span<const Op> batch_norm_ops();

}  // namespace plimsoll::cuda

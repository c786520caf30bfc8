// The activations that kernels apply to their results before they leave the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "plimsoll/dtype.h"

namespace plimsoll {

enum class Activation : uint8_t { linear, relu, sigmoid, tanh, gelu, gelu_tanh, silu };
std::optional<Activation> activation_from_name(std::string_view name);

// out[i] = activation(in[0][i]) for n elements; `out` may be in[0]. The parameters are not used: the form is
// that of an element-wise op's tile. For f32 and f64; linear has none (nullptr).
using ActivationFn = void (*)(const void* const* in, void* out, size_t n, const double* params);
ActivationFn activation_kernel(Activation activation, DType dtype);
// out[i] = in[1][i] times the derivative of gelu or gelu_tanh at in[0][i]; `out` may be either.
ActivationFn gelu_gradient_kernel(Activation activation, DType dtype);

}  // namespace plimsoll

// The activations that kernels apply to their own results, as graphs: what decompositions and gradients of
// those ops share.
#pragma once

#include <functional>

#include "device/cpu/activation.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

Tensor activate(const Tensor& z, Activation activation);

// Whether y = act(z) tells the slope at z. Where not, an op leaves the activation apart in training, so that
// z is kept.
inline bool known_from_result(Activation activation) { return activation <= Activation::tanh; }

// The gradient at z, from that of y = act(z). `z` is asked for only unless known_from_result().
Tensor through_activation(Activation activation, const Tensor& y, const Tensor& dy,
                          const std::function<Tensor()>& z);

}  // namespace plimsoll

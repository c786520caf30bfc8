// Steps of random graphs that are layers, ops with a kernel of their own, and the chains of small ops that
// passes look for, some of them with one thing changed so that no pass may take them.
#pragma once

#include "plimsoll/tensor.h"
#include "random_graphs/choice.h"

namespace plimsoll::testing {

// Any two values will do: they are cut or padded to what the layer takes.
Tensor layer_step(Choice& choice, const Tensor& x, const Tensor& y);

}  // namespace plimsoll::testing

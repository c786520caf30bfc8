// The weight of a layer inside that Keras lists among the wrapper's own, before them: SpectralNormalization's
// kernel.
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

VariablePtr borrowed_kernel(const LayerBase& layer);  // nullptr: none

}  // namespace plimsoll

// Finds where numbers that are not finite come from, by running a step once more and looking at every result.
#pragma once

#include <span>

#include "exec/steps.h"
#include "plimsoll/watch.h"

namespace plimsoll {

// `flag` is a bool that isfinite() made of the values in question: of those that are not finite the first is
// followed back to an operation that reads finite numbers only, or to something that was given. So what is
// infinite on purpose, such as a mask before a softmax, is not taken for it.
NonFinite find_nonfinite(Steps& steps, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         ValueId flag);

// Of `elements` numbers of this type; integers are finite.
ValueRange range_of(const TensorType& type, const void* data);

}  // namespace plimsoll

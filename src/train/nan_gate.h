// What the NaN watch adds to a training step: whether its numbers are finite, asked before anything changes.
#pragma once

#include <span>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

enum class NanWatching {
  off,
  // Without a finite loss nothing changes. Each gradient is asked right before its own update, which is left
  // out if it is not finite; those made before it stand.
  each,
  // Nothing changes unless the loss and all gradients are finite: these are held until the last is there.
  held,
};

// Bool scalars; undefined: nobody watches.
struct NanGate {
  Tensor all = {};               // without it nothing changes
  std::vector<Tensor> own = {};  // for each weight; empty: `all` says it
  Tensor finite = {};            // loss and gradients
};

// `gradients` empty: the loss alone is looked at.
NanGate make_nan_gate(const Tensor& loss, std::span<const Tensor> gradients, NanWatching watching);

}  // namespace plimsoll

// Layers that act only in training.
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

struct DropoutOptions {
  Dims noise_shape = {};  // empty: the input's; -1: that axis of the input
  std::optional<int64_t> seed = {};
  std::string name = {};
};
Layer Dropout(double rate, const DropoutOptions& options = {});

}  // namespace plimsoll

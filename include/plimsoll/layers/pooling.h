// Pooling over windows.
#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

struct PoolLayerOptions {
  Dims strides = {};  // empty: the window
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::string name = {};
};
Layer MaxPooling2D(Dims pool_size = 2, const PoolLayerOptions& options = {});

}  // namespace plimsoll

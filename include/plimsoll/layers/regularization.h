// Layers that act only in training.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct DropoutOptions {
  Dims noise_shape = {};  // empty: the input's; -1: that axis of the input
  std::optional<int64_t> seed = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer Dropout(double rate, const DropoutOptions& options = {});
// Keeps mean and variance of what a selu makes.
Layer AlphaDropout(double rate, const DropoutOptions& options = {});

// Whole channels are dropped together.
struct SpatialDropoutOptions {
  std::optional<int64_t> seed = {};
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer SpatialDropout1D(double rate,
                       const SpatialDropoutOptions& options = {});  // channels-last only, as in Keras
Layer SpatialDropout2D(double rate, const SpatialDropoutOptions& options = {});
Layer SpatialDropout3D(double rate, const SpatialDropoutOptions& options = {});

struct NoiseOptions {
  std::optional<int64_t> seed = {};
  std::string name = {};
  PolicyName dtype = {};
};
Layer GaussianNoise(double stddev, const NoiseOptions& options = {});
Layer GaussianDropout(double rate, const NoiseOptions& options = {});

Layer ActivityRegularization(double l1 = 0.0, double l2 = 0.0, const NameOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

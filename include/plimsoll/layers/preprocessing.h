// Layers at the door of a model.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct RescalingOptions {
  std::vector<double> offset = {0.0};  // one, or one per channel
  std::string name = {};
  PolicyName dtype = {};
};
Layer Rescaling(std::vector<double> scale, const RescalingOptions& options = {});
Layer Rescaling(double scale, const RescalingOptions& options = {});

// (x - mean) / sqrt(variance), along the axes kept apart. Without a mean and variance they are learnt by
// adapt().
struct NormalizationOptions {
  Ints axis = {-1};
  std::vector<double> mean = {};
  std::vector<double> variance = {};
  bool invert = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer Normalization(const NormalizationOptions& options = {});
// Learns from `data`: Normalization its mean and variance, IntegerLookup its vocabulary, the most frequent
// first, Discretization its boundaries. Throws if it is another layer, or was given them.
void adapt(const Layer& layer, const Tensor& data);

struct ResizingOptions {
  std::string interpolation = "bilinear";
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false;
  double fill_value = 0.0;
  bool antialias = false;
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer Resizing(int64_t height, int64_t width, const ResizingOptions& options = {});

// The layers one after the other, as one layer. What it is called with (training or not) goes to all of them.
Layer Pipeline(std::vector<Layer> layers, const NameOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

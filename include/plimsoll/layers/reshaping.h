// Layers that move elements.
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct FormatOptions {
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer Flatten(const FormatOptions& options = {});
// Shapes and axes are without the batch; one size may be -1.
Layer Reshape(Ints target_shape, const NameOptions& options = {});
Layer Permute(Ints dims, const NameOptions& options = {});  // counted from 1
Layer RepeatVector(int64_t n, const NameOptions& options = {});

// Elements before and after, per axis: 1, {{1, 2}} for one axis, {{1, 1}, {2, 2}} for two; {{1}, {2}} is the
// same on both sides.
struct Sides : std::vector<Ints> {
  Sides(int64_t all) : std::vector<Ints>{{all}} {}
  Sides(int all) : std::vector<Ints>{{all}} {}
  Sides(std::initializer_list<Ints> sides) : std::vector<Ints>(sides) {}
};
Layer ZeroPadding1D(Sides padding = 1, const FormatOptions& options = {});
Layer ZeroPadding2D(Sides padding = 1, const FormatOptions& options = {});
Layer ZeroPadding3D(Sides padding = 1, const FormatOptions& options = {});
Layer Cropping1D(Sides cropping = 1, const NameOptions& options = {});
Layer Cropping2D(Sides cropping = 0, const FormatOptions& options = {});
Layer Cropping3D(Sides cropping = 1, const FormatOptions& options = {});

struct UpSamplingOptions {
  std::string data_format = "channels_last";
  std::string interpolation = "nearest";  // "bilinear", "bicubic", "lanczos3", "lanczos5"; 2-D only
  std::string name = {};
  PolicyName dtype = {};
};
Layer UpSampling1D(int64_t size = 2, const NameOptions& options = {});
Layer UpSampling2D(Dims size = 2, const UpSamplingOptions& options = {});
Layer UpSampling3D(Dims size = 2, const FormatOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

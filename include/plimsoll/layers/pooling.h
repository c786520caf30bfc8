// Pooling over windows, and over everything (Global...).
#pragma once

#include "plimsoll/layer.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct PoolLayerOptions {
  Dims strides = {};  // empty: the window
  std::string padding = "valid";
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer MaxPooling1D(Dims pool_size = 2, const PoolLayerOptions& options = {});
Layer MaxPooling2D(Dims pool_size = 2, const PoolLayerOptions& options = {});
Layer MaxPooling3D(Dims pool_size = 2, const PoolLayerOptions& options = {});
// Padding is not counted in averages.
Layer AveragePooling1D(Dims pool_size = 2, const PoolLayerOptions& options = {});
Layer AveragePooling2D(Dims pool_size = 2, const PoolLayerOptions& options = {});
Layer AveragePooling3D(Dims pool_size = 2, const PoolLayerOptions& options = {});

struct GlobalPoolOptions {
  std::string data_format = "channels_last";
  bool keepdims = false;
  std::string name = {};
  PolicyName dtype = {};
};
Layer GlobalMaxPooling1D(const GlobalPoolOptions& options = {});
Layer GlobalMaxPooling2D(const GlobalPoolOptions& options = {});
Layer GlobalMaxPooling3D(const GlobalPoolOptions& options = {});
Layer GlobalAveragePooling1D(const GlobalPoolOptions& options = {});  // leaves out masked steps
Layer GlobalAveragePooling2D(const GlobalPoolOptions& options = {});
Layer GlobalAveragePooling3D(const GlobalPoolOptions& options = {});

// Windows that follow from the size wanted.
struct AdaptivePoolOptions {
  std::string data_format = "channels_last";
  std::string name = {};
  PolicyName dtype = {};
};
Layer AdaptiveMaxPooling1D(Dims output_size, const AdaptivePoolOptions& options = {});
Layer AdaptiveMaxPooling2D(Dims output_size, const AdaptivePoolOptions& options = {});
Layer AdaptiveMaxPooling3D(Dims output_size, const AdaptivePoolOptions& options = {});
Layer AdaptiveAveragePooling1D(Dims output_size, const AdaptivePoolOptions& options = {});
Layer AdaptiveAveragePooling2D(Dims output_size, const AdaptivePoolOptions& options = {});
Layer AdaptiveAveragePooling3D(Dims output_size, const AdaptivePoolOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

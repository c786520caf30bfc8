// Weights whose form has changed since a file was written: kernels of Keras 1 and of Theano, gates that were
// kept one by one, and the layers that only cuDNN could run.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// The version of Keras whose formats we write.
inline constexpr const char* kKerasVersion = "3.15.0";

// As a file names it: "2.2.4-tf" is {2, 2, 4}. What it does not say is 0.
using KerasVersion = std::array<int, 3>;
KerasVersion parse_keras_version(std::string_view text);

struct Origin {
  KerasVersion keras_version;
  std::string backend;
  bool is_keras1() const { return keras_version[0] == 1; }
  // Theano's convolutions ran over the kernel backwards.
  bool turns_kernels() const { return backend == "theano"; }
};

// `values` as the file has them, for a layer whose weights have these shapes. What it does not know how to
// change, it returns as it is.
std::vector<Tensor> convert_old_weights(LayerBase& layer, const Origin& origin, std::vector<Tensor> values,
                                        const std::vector<Shape>& shapes);

}  // namespace plimsoll::keras_io

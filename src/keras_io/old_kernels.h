// Weights whose form has changed since a file was written: kernels of Keras 1 and of Theano, gates that were
// kept one by one, and the layers that only cuDNN could run.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

// The version of Keras whose formats we write.
inline constexpr const char* kKerasVersion = "3.15.0";

struct Origin {
  std::string keras_version, backend;
  bool is_keras1() const { return keras_version.starts_with("1"); }
  // Theano's convolutions ran over the kernel backwards.
  bool turns_kernels() const { return backend == "theano"; }
};

// `values` as the file has them, for a layer whose weights have these shapes. What it does not know how to
// change, it returns as it is.
std::vector<Tensor> convert_old_weights(LayerBase& layer, const Origin& origin, std::vector<Tensor> values,
                                        const std::vector<Shape>& shapes);

// Copies the value, cast to the variable's type. Requires: the shapes are the same.
void set_value(const Variable& variable, const Tensor& value);

}  // namespace plimsoll::keras_io

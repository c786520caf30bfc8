// Keras's activations by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Throws Error{not_found} listing the names there are. "linear" and "" return x.
Tensor activate(std::string_view name, const Tensor& x);
std::vector<std::string> activation_names();

}  // namespace plimsoll
#pragma GCC visibility pop

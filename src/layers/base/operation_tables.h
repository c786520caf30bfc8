// The functions of keras.ops there are, by the names of Keras's classes: one table per file.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "layers/base/operation_shapes.h"

namespace plimsoll::operation {

using Function = Tensor (*)(const Operands&);
using ManyFunction = Tensors (*)(const Operands&);
using Functions = std::map<std::string, Function, std::less<>>;
using ManyFunctions = std::map<std::string, ManyFunction, std::less<>>;

const Functions& number_functions();     // operation_numbers.cpp
const Functions& statistic_functions();  // operation_statistics.cpp
const Functions& layout_functions();     // operation_layouts.cpp
const ManyFunctions& split_functions();  // operation_layouts.cpp
const Functions& image_functions();      // operation_images.cpp
const Functions& rare_functions();       // operation_rare.cpp
const ManyFunctions& rare_many_functions();
const Functions& algebra_functions();    // operation_algebra.cpp
const ManyFunctions& algebra_many_functions();
const Functions& network_functions();    // operation_networks.cpp

}  // namespace plimsoll::operation

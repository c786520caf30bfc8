// What Keras made (tests/golden/train.py), as tensors.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll::testing {

// Throws if there is no such array.
Tensor golden(const std::string& name);
std::vector<double> golden_values(const std::string& name);
bool has_golden(const std::string& name);
// Names that begin so, without the prefix.
std::vector<std::string> golden_names(const std::string& prefix);

}  // namespace plimsoll::testing

// What can stand where an activation is named: Dense(8, activation=LeakyReLU(0.1)) in Python. There the layer
// is called as a function, with no weights and no mask.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll {

class PlainActivation {
 public:
  virtual ~PlainActivation() = default;
  virtual Tensor apply(const Tensor& x) const = 0;
};

// Such a layer as the text that an `activation` holds in place of a name: the JSON of its config.
inline bool is_activation_layer(std::string_view activation) { return activation.starts_with('{'); }

}  // namespace plimsoll

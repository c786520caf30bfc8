#pragma once

#include "plimsoll/layer.h"

namespace plimsoll {

// A layer that learns from data before a model is trained: what adapt() is for.
class Adaptable {
 public:
  virtual ~Adaptable() = default;
  virtual void adapt(const Layer& self, const Tensor& data) = 0;
};

}  // namespace plimsoll

// Layers that make one tensor of several: Add()({a, b}).
#pragma once

#include "plimsoll/layers/core.h"

#pragma GCC visibility push(default)
namespace plimsoll {

Layer Add(const NameOptions& options = {});
Layer Subtract(const NameOptions& options = {});  // of two
Layer Multiply(const NameOptions& options = {});
Layer Average(const NameOptions& options = {});
Layer Maximum(const NameOptions& options = {});
Layer Minimum(const NameOptions& options = {});
Layer Concatenate(int64_t axis = -1, const NameOptions& options = {});

struct DotOptions {
  bool normalize = false;  // cosine of the angle
  std::string name = {};
  PolicyName dtype = {};
};
// One axis for both, or {axis of the first, axis of the second}.
Layer Dot(Dims axes, const DotOptions& options = {});

}  // namespace plimsoll
#pragma GCC visibility pop

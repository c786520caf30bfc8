// Ops on complex tensors, which the engine has as functions of their parts.
#pragma once

#include <optional>
#include <span>

#include "graph/op.h"
#include "plimsoll/tensor.h"

namespace plimsoll::python {

// `given`: without those that have a default. Nothing for ops that move elements, and for tensors that are
// all real: those have kernels.
std::optional<Tensor> complex_op(const OpDef& op, std::span<const Tensor> in, const Attrs& given);

}  // namespace plimsoll::python

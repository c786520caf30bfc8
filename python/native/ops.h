// Ops by name, and control flow with bodies written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "plimsoll/attrs.h"
#include "tensor.h"

namespace plimsoll::python {

using Tensors = std::vector<const PyTensor*>;
using NewTensors = std::vector<std::unique_ptr<PyTensor>>;

NewTensors apply_op(const std::string& name, const Tensors& inputs, const nanobind::dict& attrs);
// The same for tensors in a tuple: the one result, or a tuple where there are several.
nanobind::object call_op(std::string_view name, const nanobind::tuple& inputs, const nanobind::dict& attrs);
// A Python function of one tensor, or of two of one dtype, that runs this op, which has no attributes. It returns
// None, having done nothing, for what Keras's rules of promotion are needed for: other operands, and dtypes that
// are not of `kinds` ("any", "numbers": no bool, "floats") or have more than 32 bits.
nanobind::object quick_op(const std::string& name, const std::string& kinds);
// Which input of its trace a value has its elements from, and by which ops that only move or cast them (a
// slice with its three lists, a reshape with its shape), the first one first. None: its elements are
// computed.
using Moves = std::vector<std::tuple<std::string, Ints, Ints, Ints>>;
std::optional<std::pair<int64_t, Moves>> origin_of(const PyTensor& tensor);
NewTensors gradients_of(const Tensors& ys, const Tensors& xs, const Tensors& dys);
// A value of the trace that this thread is in, so that what is made of it is recorded; outside the tensor
// itself.
std::unique_ptr<PyTensor> recorded(const PyTensor& tensor);
// Bodies take tensors and return a sequence of tensors.
NewTensors cond_op(const PyTensor& predicate, const Tensors& operands, const nanobind::callable& if_true,
                   const nanobind::callable& if_false);
NewTensors while_op(const Tensors& state, const nanobind::callable& test, const nanobind::callable& body);
NewTensors scan_op(const Tensors& carry, const Tensors& xs, int64_t length, const nanobind::callable& body,
                   bool reverse);
// `backward` takes the gradients of the ys and returns those of the xs.
NewTensors custom_vjp_op(const Tensors& ys, const Tensors& xs, const nanobind::callable& backward);
NewTensors remat_op(const Tensors& operands, const nanobind::callable& body);

}  // namespace plimsoll::python

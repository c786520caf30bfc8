#include "graph/capabilities.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<TensorType> types;
  types.reserve(values.size());
  for (const ValueId v : values) types.push_back(graph.type(v));
  return types;
}

// Element i of the output depends on element i of the input alone, and both have the same size.
bool same_elements(const TensorType& in, const TensorType& out) {
  return in.shape.elements() == out.shape.elements() && size_of(in.dtype) == size_of(out.dtype);
}

}  // namespace

NodeCall::NodeCall(const Graph& graph, const Node& node)
    : op(*node.op), attrs(node.attrs), in(types_of(graph, node.inputs)), out(types_of(graph, node.outputs)) {}

std::string node_name(const Node& node) {
  return concat(node.layer, node.layer.empty() ? "" : "/", node.op->name);
}

bool has_code(const Node& node) { return !node.op->alias && node.op->name != "constant"; }

uint64_t op_in_place(const OpCall& call, std::span<const TensorType> out, int index) {
  const TensorType& type = out[static_cast<size_t>(index)];
  const size_t inputs = std::min<size_t>(call.in.size(), 64);
  uint64_t mask = 0;
  if (call.op.tile != nullptr && call.op.tile(call.in, type, call.attrs).fn != nullptr) {
    for (size_t i = 0; i < inputs; ++i) {
      if (same_elements(call.in[i], type)) mask |= uint64_t{1} << i;
    }
  }
  if (call.op.in_place != nullptr) {
    const uint64_t allowed = call.op.in_place(call, index);
    const int64_t bytes = byte_size(type.dtype, type.shape);
    for (size_t i = 0; i < inputs; ++i) {
      const bool large_enough = byte_size(call.in[i].dtype, call.in[i].shape) >= bytes;
      if (large_enough) mask |= allowed & (uint64_t{1} << i);
    }
  }
  return mask;
}

}  // namespace plimsoll

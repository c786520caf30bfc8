// What the tests of passes share.
#pragma once

#include <algorithm>
#include <string_view>

#include "graph/op.h"
#include "passes/cpu_capabilities.h"
#include "plimsoll/graph.h"

namespace plimsoll {

inline int64_t count(const Graph& g, std::string_view op) {
  return std::count_if(g.nodes().begin(), g.nodes().end(), [&](const Node& n) { return n.op->name == op; });
}

// Values of both signs that halves hold exactly.
inline Tensor wave(const Shape& shape) {
  Tensor t = Tensor::empty(DType::f32, shape);
  for (int64_t i = 0; i < shape.elements(); ++i)
    t.data<float>()[i] = static_cast<float>((i * 7 % 13) - 6) / 8;
  return t;
}

// The CPU, as if it joined small nodes.
class Joining final : public Capabilities {
 public:
  bool runs(const OpCall& call, std::span<const TensorType> out) const override {
    return cpu_capabilities().runs(call, out);
  }
  Fuse fuses(const OpCall& call, std::span<const TensorType> out) const override {
    return cpu_capabilities().fuses(call, out);
  }
  uint64_t in_place(const OpCall& call, std::span<const TensorType> out, int index) const override {
    return cpu_capabilities().in_place(call, out, index);
  }
  Limits limits() const override {
    Limits limits;
    limits.joins = true;
    return limits;
  }
};

}  // namespace plimsoll

// Capabilities: what a device can do with an op, asked before anything is made ready. Passes and the planner
// build a program for a device from these alone. May be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/op.h"

namespace plimsoll {

class Capabilities {
 public:
  // How an op may be a member of a "fused" node: element by element, or as a reduction behind such members.
  enum class Fuse : uint8_t { no, map, fold };
  struct Limits {
    size_t fused_nodes = 40;
    size_t fused_inputs = 24;
    size_t fused_arguments = SIZE_MAX;  // inputs and outputs together
    int64_t alignment = 64;             // of places in the arena, in bytes: a power of two
    bool joins = false;                 // small nodes of one kind that follow each other run as one
  };

  virtual ~Capabilities() = default;
  // Whether it has code for this. Ops it has none for become their parts (OpDef::decompose). Not asked for
  // constants and aliases, which run nothing.
  virtual bool runs(const OpCall& call, std::span<const TensorType> out) const = 0;
  virtual Fuse fuses(const OpCall& call, std::span<const TensorType> out) const = 0;
  // Inputs, as a bit mask, whose bytes output `index` may take over if they die there.
  virtual uint64_t in_place(const OpCall& call, std::span<const TensorType> out, int index) const = 0;
  virtual Limits limits() const { return {}; }
};

// One node as these functions want it.
struct NodeCall {
  NodeCall(const Graph& graph, const Node& node);
  OpCall call() const { return {op, in, attrs}; }

  const OpDef& op;
  const Attrs& attrs;
  std::vector<TensorType> in, out;
};

// "dense_1/dot_general", for reports.
std::string node_name(const Node& node);
// Whether the node has anything to run: it is neither a constant nor an alias.
bool has_code(const Node& node);

// The rule of the ops themselves, which is that of the CPU's kernels.
uint64_t op_in_place(const OpCall& call, std::span<const TensorType> out, int index);

}  // namespace plimsoll

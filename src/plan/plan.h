// A Plan gives every value of one Graph its bytes, so that a training step allocates nothing: temporaries a
// range in an arena, the rest the bytes of inputs, variables, constants and outputs. Two values share bytes
// only if no step has both alive, or if one takes over the other in place. Immutable once made; may be read
// from several threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plimsoll/graph.h"

namespace plimsoll {

class Capabilities;

// Where the bytes of a value are.
struct Place {
  enum class Kind : uint8_t { none, arena, input, variable, constant, output };
  Kind kind = Kind::none;  // none: nobody reads the value and its op need not run
  // arena: byte offset, a multiple of 64 or what the device asks for. input, variable, output: index into the
  // graph's list. constant: the NodeId.
  int64_t at = 0;
  bool operator==(const Place&) const = default;
};

// After the last node: bytes of `from` go to `to` (an updated variable or an output that could not be written
// directly). All copies read before any of them writes what another reads: a plan orders them so, or has
// staged them in the arena.
struct PlanCopy {
  ValueId from;
  Place to;
  Place source;  // where the bytes of `from` are then: place(from), or where an earlier copy has staged them
};

struct PlanOptions {
  bool reuse = true;    // false: every value its own bytes, nothing in place (the oracle of tests)
  bool reorder = true;  // false: nodes run in the graph's order
  // Of the device that it is for; nullptr: the CPU, whose rules are those of the ops.
  const Capabilities* can = nullptr;
  // Some bytes may be spent on an order in which a device can join nodes, if it does that at all.
  bool joins = true;
};

class Plan {
 public:
  // `scratch` has one entry per node: bytes its kernel wants; it may end early, the rest want none. Requires:
  // the graph verifies. Throws Error{invalid_argument} if a size is negative or their sum overflows.
  static Plan make(const Graph& graph, std::span<const int64_t> scratch, const PlanOptions& options = {});

  // The nodes that run, in order. Constants, alias ops and nodes whose outputs nobody reads are left out.
  std::span<const NodeId> order() const { return order_; }
  const Place& place(ValueId value) const { return places_[value]; }
  // Byte offset of the node's scratch in the arena; 0 if it wants none.
  int64_t scratch(NodeId node) const { return scratch_[node]; }
  std::span<const PlanCopy> copies() const { return copies_; }
  // Values in the arena that nobody reads after order()[step] and whose bytes no one took over.
  std::span<const ValueId> dying(size_t step) const { return dying_[step]; }

  int64_t arena_bytes() const { return arena_bytes_; }
  // The largest sum of bytes alive at once: no plan of this order can be smaller.
  int64_t lower_bound() const { return lower_bound_; }

 private:
  std::vector<NodeId> order_;
  std::vector<Place> places_;
  std::vector<int64_t> scratch_;
  std::vector<PlanCopy> copies_;
  std::vector<std::vector<ValueId>> dying_;
  int64_t arena_bytes_ = 0;
  int64_t lower_bound_ = 0;
};

}  // namespace plimsoll

// A graph with nodes that run more than once, from a list of execs.
#pragma once

#include <span>
#include <vector>

#include "plan/replay.h"

namespace plimsoll {

struct Cloned {
  Graph graph;               // its nodes stand in the order of the execs
  std::vector<NodeId> from;  // by node: the one of the old graph that it is, or is once more
};

// All ops in it are pure, and random ones have keys, so what is made again is the same bit by bit. Updates of
// variables that a later exec reads are put off until then.
Cloned clone_nodes(const Dataflow& flow, std::span<const Exec> execs);

}  // namespace plimsoll

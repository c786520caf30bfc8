// Orders in which the nodes of a graph can run. The planner measures each and keeps the one with the lowest
// peak.
#pragma once

#include <vector>

#include "plan/dataflow.h"

namespace plimsoll {

using Order = std::vector<Dataflow::Run>;

// The graph's own, moved only where a variable that is updated in place is read later. Updates come right
// after what they wait for, all of them, or the large ones only with the small ones at the end; or where the
// graph has them.
enum class EarlyUpdates { all, large, none };
Order graph_order(const Dataflow& flow, EarlyUpdates early);
// Depth first from outputs and updates: what a node needs comes right before it.
Order post_order(const Dataflow& flow);
// Of the nodes that are ready, always the one that frees the most bytes less those it needs.
Order list_order(const Dataflow& flow);

}  // namespace plimsoll

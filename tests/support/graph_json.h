// Attributes and graphs as JSON, for the oracles in tests/golden/: they interpret what they are given, so
// that nothing of the engine judges itself.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/attrs.h"
#include "plimsoll/graph.h"

namespace plimsoll::testing {

nlohmann::json type_json(const TensorType& type);  // {"dtype", "shape"}
nlohmann::json attrs_json(const Attrs& attrs);
// {"inputs": ids, "variables": ids, "nodes": [{"op", "in": ids, "out": ids, "types", "attrs"}], "outputs":
// ids, "updates": [[variable, value]]}
nlohmann::json graph_json(const Graph& graph);

}  // namespace plimsoll::testing

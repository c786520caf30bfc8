// The catalogue of ops that plug-ins compile with: include/plimsoll/device_ops.h, printed from the registry.
#pragma once

#include <string>
#include <string_view>

#include "graph/op.h"

namespace plimsoll::testing {

std::string catalogue_text();

// An op that a device must have code for if graphs with it are to run: the engine cannot take it apart.
bool is_primitive(const OpDef& op);
// A primitive that the interpreter of examples/device does not have.
bool left_out(std::string_view op);

}  // namespace plimsoll::testing

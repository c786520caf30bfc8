// A picture of what a training step holds: one page of HTML that needs nothing else.
#pragma once

#include <string>

#include "plimsoll/model.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Bytes in the arena over the steps of a training step, as bands coloured by layer, with the arena's share of
// the line drawn in and what runs again marked. As forecast(): nothing is run. Throws MemoryLineError if the
// step cannot fit under `memory` (optional).
std::string memory_report_html(const Model& model, int64_t batch_size, const std::string& memory = "");
// The picture of it alone, as SVG.
std::string memory_report_svg(const Model& model, int64_t batch_size, const std::string& memory = "");

}  // namespace plimsoll
#pragma GCC visibility pop

// A picture of what a training step holds: one page of HTML that needs nothing else.
#pragma once

#include <string>

#include "plimsoll/model.h"

#pragma GCC visibility push(default)
namespace plimsoll {

// Bytes in the arena over the steps of the training step that `f` forecast, as bands coloured by layer, with
// the arena's share of the line drawn in and what runs again marked. Nothing is run.
std::string memory_report_html(const Model& model, int64_t batch_size, const MemoryForecast& f);
// The picture of it alone, as SVG.
std::string memory_report_svg(const Model& model, int64_t batch_size, const MemoryForecast& f);

// Of forecast(model, batch_size, memory).
std::string memory_report_html(const Model& model, int64_t batch_size, const std::string& memory = "");
std::string memory_report_svg(const Model& model, int64_t batch_size, const std::string& memory = "");

}  // namespace plimsoll
#pragma GCC visibility pop

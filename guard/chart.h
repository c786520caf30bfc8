// Memory over the last minute as a small picture, for a terminal and for a page. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guard/memory_watch.h"

namespace plimsoll::guard {

// Rows of block characters with a scale on the left; the line drawn in if it is near. Empty without samples.
std::vector<std::string> text_chart(const std::vector<MemorySample>& samples, int64_t line);

// A complete <svg> element. Empty without samples.
std::string svg_chart(const std::vector<MemorySample>& samples, int64_t line);

}  // namespace plimsoll::guard

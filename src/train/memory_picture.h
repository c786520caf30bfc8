// The picture of memory_report_html(), from the spans of an arena.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "plimsoll/program.h"

namespace plimsoll {

struct Picture {
  std::string title;
  std::vector<ArenaSpan> spans;
  std::vector<std::string> steps;  // what each step is
  int64_t arena = 0;
  int64_t line = 0;  // of the arena; 0: none
};

std::string picture_html(const Picture& picture);
std::string picture_svg(const Picture& picture);  // without the table

}  // namespace plimsoll

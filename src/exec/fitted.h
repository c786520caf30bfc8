// The steps of a Program, made to fit under its line: nodes in another order and values made again (plan/),
// and where that does not do and the user has consented, the batch cut into ranges of rows.
#pragma once

#include <memory>

#include "exec/steps.h"
#include "plimsoll/program.h"

namespace plimsoll {

struct FittedSteps {
  std::unique_ptr<Steps> steps;
  LineReport
      line;  // `unlimited` and `seconds` are of the whole batch; `extra_seconds` has what cutting costs
  int64_t parts = 1;
};

// What the arena may have; see ArenaLine.
ArenaLine arena_line(const CompileOptions& options);

// Where nothing fits, what needs least (`line.fits` is false then). `ready`: else it is for looking at only.
FittedSteps fit_steps(const Graph& graph, const CompileOptions& options, bool ready);

}  // namespace plimsoll

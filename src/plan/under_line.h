// A plan whose arena stays under a line: places in one arena first, then the order of nodes, then values that
// are dropped and made again. The results of a run are the same bit by bit. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/clones.h"
#include "plan/plan.h"

namespace plimsoll {

inline constexpr int64_t kNoLine = INT64_MAX;

// What a line does to a plan. Seconds are estimates.
struct LineReport {
  bool fits = true;          // false: no plan does; then this is of the one with the smallest arena found
  int64_t unlimited = 0;     // arena bytes without a line
  double seconds = 0;        // a run of the graph as it is
  double extra_seconds = 0;  // what runs again
  // What is idle at the peak of the order and has no room under the line has to be made again: no plan of
  // this order takes fewer extra seconds.
  double least_extra = 0;
};

struct LinePlan {
  Plan plan;
  LineReport report;
  // The graph to run, where nodes run again: a copy of the one given, with them in it.
  std::optional<Cloned> cloned;
};

// `plan`: of the graph with these options and no line; where it fits it is what comes back. `scratch` as in
// Plan::make(). `threads`: that a run will have, for the seconds. A line of 0 gives the plan with the
// smallest arena that can be found.
LinePlan plan_under(const Graph& graph, Plan plan, std::span<const int64_t> scratch,
                    const PlanOptions& options, int64_t line, int threads = 1);

}  // namespace plimsoll

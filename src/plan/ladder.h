// Ladder: the ways to run a graph in fewer bytes than its plan takes: nodes in another order, then values
// that are dropped and made again. The results of a run are the same bit by bit. Which ways there are depends
// on the graph alone and not on any line; under a line the cheapest of those that fit is taken. So a smaller
// line never has a larger arena, a larger one never takes more time, and the least line that does is known.
// Not thread-safe: offsets are found when they are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "plan/clones.h"
#include "plan/plan.h"

namespace plimsoll {

struct WayDown;

inline constexpr int64_t kNoLine = INT64_MAX;

// A graph to run in place of another: a copy of it in the order of some execs.
struct ExecPlan {
  Cloned cloned;
  Plan plan;
};
// Throws Error{invalid_argument} if the execs are not those of this graph. `scratch` as in Plan::make().
ExecPlan plan_execs(const Graph& graph, std::span<const Exec> execs, std::span<const int64_t> scratch,
                    const PlanOptions& options);

class Ladder {
 public:
  // The graph must outlive this. `threads`: that a run will have, for the seconds, which are estimates.
  Ladder(const Graph& graph, std::vector<int64_t> scratch, const PlanOptions& options, int threads = 1);

  // A node runs once more, as the exec `at`.
  struct Repeat {
    uint32_t at;
    Dataflow::Run run;
  };
  // Each takes more seconds than the one before, and has a lower peak.
  struct Rung {
    int64_t peak = 0;          // bytes alive at once
    double extra_seconds = 0;  // what runs again
    int64_t arena = -1;        // negative: not planned yet
    size_t nodes = 0;          // of the graph to run
    size_t order = 0;          // of nodes, which it keeps but for those that run again
    std::vector<Repeat> repeats = {};
  };
  const Rung& rung(size_t i) const { return rungs_[i]; }
  std::vector<Exec> execs(size_t i) const;

  // The first rung, and with it the cheapest, whose arena and number of nodes fit. Requires: what fits also
  // fits with less of either.
  using Fits = std::function<bool(int64_t arena, size_t nodes)>;
  std::optional<size_t> first(const Fits& fits);
  // The one with the smallest arena; nothing if there are no rungs.
  std::optional<size_t> smallest();
  // Valid until another is asked for.
  const ExecPlan& plan(size_t i);
  // The same, to keep.
  ExecPlan take_plan(size_t i);

  // What is idle at the peak of an order and has no room under the line has to be made again: no plan of the
  // orders looked at takes fewer extra seconds.
  double least_extra(int64_t line) const;

 private:
  struct Idle {
    int64_t bytes;
    double seconds;
  };
  struct Peak {
    int64_t bytes = 0;
    std::vector<Idle> idle = {};  // the cheapest for its bytes first
  };
  static Peak peak_of(Replay& replay);
  void go_down(Replay& replay, const WayDown& chosen);
  void keep_best();
  const Rung& planned(size_t i);

  const Graph& graph_;
  std::vector<int64_t> scratch_;
  PlanOptions options_;
  std::vector<Rung> rungs_;
  std::optional<ExecPlan> last_;  // that was planned
  size_t last_rung_ = 0;
  std::vector<Order> orders_;
  std::vector<Peak> peaks_;  // by order
};

// A run of the graph as it is, estimated.
double run_seconds(const Graph& graph, int threads);
// What one node reads, makes and works in at once: no plan has a smaller arena.
int64_t least_arena(const Graph& graph, std::span<const int64_t> scratch, const PlanOptions& options);

}  // namespace plimsoll

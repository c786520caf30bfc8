// Choices: the ways there are to run one graph: as it is, with values made again (plan/ladder), and, if the
// user has consented, with the batch cut into ranges of rows. Which there are depends on the graph and not on
// any line. Under a line the cheapest that fits is taken, an exact one before one that is equal to rounding
// only. Its recipe is all that is needed to make it: what was planned is what is compiled. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/steps.h"
#include "plimsoll/program.h"

namespace plimsoll {

// How a graph is run to stay under a line.
struct Recipe {
  int64_t parts = 1;             // of the batch
  std::vector<Exec> execs = {};  // empty: the nodes in the order of their plan
  // For reports.
  int64_t unlimited = 0;     // arena of the graph as it is
  double seconds = 0;        // of a run of that, estimated
  double extra_seconds = 0;  // of the recipe
};

// "; with consent to parts ...": what a refusal adds; nothing for 0 parts.
std::string parts_text(int64_t parts);
// What the tests' CompileOptions::parts asks for, if the batch can be cut.
Recipe forced_parts(const Graph& graph, const CompileOptions& options);
// The steps of a graph by a recipe, not ready yet. Throws Error{invalid_argument} if it is of another graph.
std::unique_ptr<Steps> make_steps(const Graph& graph, const CompileOptions& options, const Recipe& recipe);

struct Choice {
  std::shared_ptr<const Recipe> recipe;
  int64_t arena = 0;                // bytes of temporaries and scratch
  int64_t program = 0;              // of graph, plan and kernels
  int64_t constants = 0;            // of the graph
  int64_t kept = 0;                 // in copies of weights
  std::optional<size_t> rung = {};  // of the ladder of its number of parts
  int64_t held() const { return program + constants; }
  double extra_seconds() const { return recipe->extra_seconds; }
};
// `lower_bound` and `layers` are not in it.
MemoryReport report_of(const Choice& choice, int64_t variables);
int64_t variable_bytes(const Graph& graph);
// Of steps that were made by the recipe.
Choice choice_of(const Steps& steps, std::shared_ptr<const Recipe> recipe);

class Choices {
 public:
  // The graph must outlive this.
  Choices(const Graph& graph, const CompileOptions& options);

  const Choice& as_it_is() const { return ways_[0]->as_it_is; }
  // What a Program holds at least with its constants, whichever is chosen.
  int64_t least_held() const { return least_held_; }
  // `held`: by the Program with its constants. What fits must also fit with less of either. Nothing: none
  // does, of those that the line of the process leaves room to plan for.
  using Fits = std::function<bool(int64_t arena, int64_t held)>;
  std::optional<Choice> cheapest(const Fits& fits);
  // The one with the smallest arena, of the same.
  Choice smallest();
  // From now on the batch may be cut.
  void consent_to_parts() { options_.micro_batch = true; }

  // The steps of a choice, not ready yet. Nothing more may be asked afterwards.
  std::unique_ptr<Steps> take_steps(const Choice& choice);
  // Gives back what was made to look at the graph as it is; the graph may end, as `again` makes the same once
  // more where it is needed.
  using Again = std::function<std::shared_ptr<const Graph>()>;
  void forget(Again again);
  std::shared_ptr<const Graph> graph() const;
  // With all that there is to say; `line`: of the arena, that it was chosen for.
  MemoryReport report(const Choice& choice, int64_t line);

 private:
  // All with one number of parts.
  struct Ways {
    int64_t parts = 1;
    Choice as_it_is;
    std::unique_ptr<Steps> steps;  // nullptr: forgotten
    std::optional<Graph> graph;    // then; after the passes, and cut. Nothing: forgotten too
    bool repeats = true;           // false: it is too large for that
    std::vector<int64_t> scratch;
    size_t nodes = 0;
    double seconds = 0;
    int64_t floor = 0;  // no arena is smaller
    std::optional<Ladder> ladder;
  };
  // What it takes to look at the ways there are, about.
  struct Planned {
    Planned() = default;
    Planned(const Planned&) = delete;
    Planned& operator=(const Planned&) = delete;
    ~Planned() { set(0); }
    void set(int64_t wanted) noexcept;
    int64_t bytes = 0;
  };
  std::unique_ptr<Ways> look_at(std::unique_ptr<Steps> steps, int64_t parts) const;
  Ways* ways(size_t wanted);
  std::optional<Graph> cut(int64_t parts);
  int64_t bytes_to_plan(size_t i) const;
  bool room_to_plan(size_t i);
  void look_apart();
  Ladder& ladder(Ways& ways);
  std::optional<Choice> repeating(Ways& ways, const Fits& fits);
  Choice of_rung(Ways& ways, size_t rung);
  std::shared_ptr<Recipe> recipe(const Ways& ways, double again) const;
  const Graph& graph_of(Ways& ways);

  const Graph* graph_;
  Again again_;  // where the graph is not there
  int64_t variables_;
  CompileOptions options_;
  PlanOptions plan_;
  int64_t least_held_ = 0;
  std::optional<Graph> apart_;  // after the passes, of nodes that can be cut
  size_t jobs_ = 0;             // of these, on rows
  int64_t rows_ = 0;
  std::vector<std::unique_ptr<Ways>> ways_;  // in 1, 2, 3, 4, 6, 8 ... parts
  bool all_ = false;                         // those that are worth it are there
  Planned planned_;
};

}  // namespace plimsoll

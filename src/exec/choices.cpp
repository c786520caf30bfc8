#include "exec/choices.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>

#include "device/cpu/shared_primitives.h"
#include "device/cpu/thread_pool.h"
#include "exec/device_steps.h"
#include "exec/step_list.h"
#include "memory/account.h"
#include "passes/passes.h"
#include "plan/micro_batch.h"
#include "plan/row_jobs.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kMostParts = 64;
// Graphs of more are not worth the time: of a cut batch, and of one whose values are made again as well.
constexpr size_t kMostNodes = 20'000, kMostToRepeat = 3'000;
// Twice as many parts whose arena is above this share of the smallest so far did not help.
constexpr double kLess = 0.95;
// What it takes to look at a graph, for each node; and at so many parts, and at all fewer, for each job of
// each part: 7.2 KB of heap (massif, a CNN of 23 jobs in 64 parts with values made again) while rungs that
// are not the best were kept.
constexpr int64_t kPlanningBytes = 6 << 10;

// Of all that is planned: several steps are, side by side.
std::atomic<int64_t> being_planned{0};

// 1, 2, 3, 4, 6, 8, 12 ...: of the i-th way.
int64_t parts_of(size_t i) {
  if (i == 0) return 1;
  return i % 2 == 1 ? int64_t{2} << (i / 2) : int64_t{3} << (i / 2 - 1);
}

const Capabilities& capabilities(const CompileOptions& o) {
  return o.device ? o.device->capabilities() : cpu_capabilities();
}

int threads_of(const CompileOptions& o) {
  return available_threads(o.threads > 0 ? o.threads : hardware_threads());
}

PlanOptions plan_options(const CompileOptions& o) {
  const bool line = o.memory >= 0 || (o.device && o.device->account().limit() != account::kNoLimit);
  return {.reuse = !o.no_reuse,
          .reorder = !o.no_reuse,
          .can = o.device ? &o.device->capabilities() : nullptr,
          .joins = !line};
}

// The graph as what it will run on likes it.
Graph passed(const Graph& graph, const CompileOptions& o) {
  return run_passes(graph, o.skip_passes, capabilities(o));
}

// The same, of nodes that can be cut.
Graph passed_apart(const Graph& graph, const CompileOptions& o) {
  return passed(take_apart(pass_lower(graph, capabilities(o))), o);
}

std::optional<Graph> cut_for(const Graph& apart, int64_t parts, const CompileOptions& o) {
  std::optional<Graph> made = cut_batch(apart, parts);
  // Ops that only ranges have may be new to the device.
  if (made && has_to_lower(*made, capabilities(o))) made = pass_lower(*made, capabilities(o));
  return made;
}

// Requires: passes have run.
std::unique_ptr<Steps> steps_of(Graph graph, const CompileOptions& o) {
  const SharedPrimitives shared;
  if (o.device) return std::make_unique<DeviceSteps>(std::move(graph), o.device, plan_options(o));
  StepOptions s;
  s.threads = threads_of(o);
  s.reference_kernels = o.reference_kernels;
  s.poison = o.poison;
  s.plan = plan_options(o);
  return std::make_unique<StepList>(std::move(graph), s);
}

void repeat(Steps& steps, const Recipe& recipe, const CompileOptions& o) {
  if (recipe.execs.empty()) return;
  const SharedPrimitives shared;
  steps.repeat(plan_execs(steps.graph(), recipe.execs, steps.scratch(), plan_options(o)));
}

int64_t constants_of(const Graph& graph) {
  int64_t sum = 0;
  for (const Node& n : graph.nodes()) {
    for (const auto& [name, value] : n.attrs) {
      if (const Tensor* t = std::get_if<Tensor>(&value)) sum += byte_size(t->dtype(), t->shape());
    }
  }
  return sum;
}

// Walks through the steps with what lies in the arena, by offset: an output in place of an input takes its
// bytes over.
std::vector<std::pair<std::string, int64_t>> layers_at_peak(const Graph& graph, const Plan& plan) {
  std::map<int64_t, std::pair<ValueId, int64_t>> live, at_peak;
  int64_t now = 0, peak = 0;
  for (size_t step = 0; step < plan.order().size(); ++step) {
    for (const ValueId v : graph.node(plan.order()[step]).outputs) {
      if (plan.place(v).kind != Place::Kind::arena) continue;
      auto& [value, bytes] = live[plan.place(v).at];
      now += byte_size(graph.type(v).dtype, graph.type(v).shape) - bytes;
      value = v;
      bytes = byte_size(graph.type(v).dtype, graph.type(v).shape);
    }
    if (now > peak) {
      peak = now;
      at_peak = live;
    }
    for (const ValueId v : plan.dying(step)) {
      const auto found = live.find(plan.place(v).at);
      if (found == live.end()) continue;
      now -= found->second.second;
      live.erase(found);
    }
  }
  std::map<std::string, int64_t> sums;
  for (const auto& [offset, held] : at_peak)
    sums[graph.node(graph.value(held.first).producer).layer] += held.second;
  std::vector<std::pair<std::string, int64_t>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

}  // namespace

std::unique_ptr<Steps> make_steps(const Graph& graph, const CompileOptions& options, const Recipe& recipe) {
  std::optional<Graph> cut;
  if (recipe.parts > 1) cut = cut_for(passed_apart(graph, options), recipe.parts, options);
  require(recipe.parts == 1 || cut, "program", "a batch of this graph cannot be cut into ", recipe.parts,
          " parts");
  std::unique_ptr<Steps> steps = steps_of(cut ? std::move(*cut) : passed(graph, options), options);
  repeat(*steps, recipe, options);
  return steps;
}

std::string parts_text(int64_t parts) {
  if (parts == 0) return "";
  return concat("; with micro_batch \"auto\" it fits in ", parts,
                " parts of the batch, with results equal to rounding and not bit by bit");
}

Recipe forced_parts(const Graph& graph, const CompileOptions& options) {
  const int64_t parts = std::min(options.parts, batch_rows(graph));
  return {.parts = cut_for(passed_apart(graph, options), parts, options) ? parts : 1};
}

MemoryReport report_of(const Choice& choice, int64_t variables) {
  const Recipe& recipe = *choice.recipe;
  MemoryReport r;
  r.arena = choice.arena;
  r.program = choice.program;
  r.constants = choice.constants;
  r.kept = choice.kept;
  r.parts = recipe.parts;
  r.recipe = choice.recipe;
  r.unlimited = recipe.unlimited;
  r.seconds = recipe.seconds;
  r.extra_seconds = recipe.extra_seconds;
  r.again = std::ranges::count_if(recipe.execs, &Exec::again);
  r.variables = variables;
  return r;
}

int64_t variable_bytes(const Graph& graph) {
  int64_t sum = 0;
  for (const GraphVariable& v : graph.variables()) sum += byte_size(v.storage.dtype(), v.storage.shape());
  return sum;
}

Choice choice_of(const Steps& steps, std::shared_ptr<const Recipe> recipe) {
  return {.recipe = std::move(recipe),
          .arena = steps.plan().arena_bytes(),
          .program = steps.bytes(),
          .constants = constants_of(steps.graph()),
          .kept = steps.kept()};
}

Choices::Choices(const Graph& graph, const CompileOptions& options)
    : graph_(&graph), variables_(variable_bytes(graph)), options_(options), plan_(plan_options(options)) {
  ways_.push_back(look_at(steps_of(passed(graph, options), options), 1));
  const Ways& whole = *ways_[0];
  planned_.set(kPlanningBytes * static_cast<int64_t>(whole.nodes));
  least_held_ = whole.as_it_is.held() - graph_bytes(whole.nodes) + graph_bytes(whole.steps->size());
}

std::shared_ptr<Recipe> Choices::recipe(const Ways& w, double again) const {
  const Ways& whole = ways_.empty() ? w : *ways_[0];
  return std::make_shared<Recipe>(Recipe{.parts = w.parts,
                                         .unlimited = whole.as_it_is.arena,
                                         .seconds = whole.seconds,
                                         .extra_seconds = std::max(0.0, w.seconds + again - whole.seconds)});
}

std::unique_ptr<Choices::Ways> Choices::look_at(std::unique_ptr<Steps> steps, int64_t parts) const {
  auto w = std::make_unique<Ways>();
  w->parts = parts;
  w->scratch = steps->scratch();
  w->nodes = steps->graph().nodes().size();
  w->seconds = run_seconds(steps->graph(), threads_of(options_));
  w->as_it_is = choice_of(*steps, nullptr);
  w->as_it_is.recipe = recipe(*w, 0);
  w->steps = std::move(steps);
  return w;
}

void Choices::forget(Again again) {
  again_ = std::move(again);
  graph_ = nullptr;
  Ways& whole = *ways_[0];
  whole.ladder.reset();  // which refers to the graph there
  whole.steps = nullptr;
}

std::shared_ptr<const Graph> Choices::graph() const {
  return graph_ ? std::shared_ptr<const Graph>(std::shared_ptr<void>(), graph_) : again_();
}

const Graph& Choices::graph_of(Ways& w) {
  if (w.steps) return w.steps->graph();
  if (!w.graph) w.graph = w.parts > 1 ? cut(w.parts) : passed(*graph(), options_);
  return *w.graph;
}

void Choices::look_apart() {
  if (apart_) return;
  apart_ = passed_apart(*graph(), options_);
  const RowJobs jobs(*apart_);
  jobs_ = jobs.jobs().size();
  rows_ = jobs.rows();
}

void Choices::Planned::set(int64_t wanted) noexcept {
  being_planned += wanted - bytes;
  bytes = wanted;
}

int64_t Choices::bytes_to_plan(size_t i) const {
  return kPlanningBytes * static_cast<int64_t>(ways_[0]->nodes + jobs_ * static_cast<size_t>(parts_of(i)));
}

bool Choices::room_to_plan(size_t i) {
  look_apart();
  return account::limit() == account::kNoLimit ||
         bytes_to_plan(i) - planned_.bytes <= account::limit() - account::used() - being_planned;
}

std::optional<Graph> Choices::cut(int64_t parts) {
  look_apart();
  const size_t nodes = static_cast<size_t>(parts) * jobs_;
  const bool worth = parts <= std::min(kMostParts, rows_) && nodes <= kMostNodes;
  return worth ? cut_for(*apart_, parts, options_) : std::nullopt;
}

// Nothing: so many parts are too many, or bring nothing.
Choices::Ways* Choices::ways(size_t wanted) {
  while (ways_.size() <= wanted && !all_) {
    const int64_t parts = parts_of(ways_.size());
    std::optional<Graph> graph = cut(parts);
    if (!graph) {
      all_ = true;
      break;
    }
    planned_.set(bytes_to_plan(ways_.size()));
    std::unique_ptr<Ways> w = look_at(steps_of(std::move(*graph), options_), parts);
    w->floor = least_arena(w->steps->graph(), w->scratch, plan_);
    // What lies between two doublings is a way as it is alone, which takes no room to plan in.
    const bool doubling = std::has_single_bit(static_cast<uint64_t>(parts));
    w->repeats = doubling && w->nodes <= kMostToRepeat;
    if (w->repeats) w->graph = w->steps->take_graph();
    w->steps = nullptr;
    // What stands between parts may be all rows of a value as it is, and yet can be made again by parts.
    const auto helped = [&](size_t i) {
      const auto less = [](int64_t now, int64_t before) {
        return static_cast<double>(now) <= kLess * static_cast<double>(before);
      };
      const Ways& half = *ways_[std::max<size_t>(i, 2) - 2];
      return less(ways_[i]->as_it_is.arena, half.as_it_is.arena) || less(ways_[i]->floor, half.floor);
    };
    ways_.push_back(std::move(w));
    const size_t last = ways_.size() - 1;
    all_ = doubling && last > 2 && !helped(last) && !helped(last - 2);
  }
  return wanted < ways_.size() ? ways_[wanted].get() : nullptr;
}

Ladder& Choices::ladder(Ways& w) {
  if (!w.ladder) w.ladder.emplace(graph_of(w), w.scratch, plan_, threads_of(options_));
  return *w.ladder;
}

Choice Choices::of_rung(Ways& w, size_t i) {
  const Ladder::Rung& rung = ladder(w).rung(i);
  const std::shared_ptr<Recipe> made = recipe(w, rung.extra_seconds);
  made->execs = ladder(w).execs(i);
  Choice c = w.as_it_is;
  c.recipe = made;
  c.rung = i;
  c.arena = rung.arena;
  c.program += graph_bytes(rung.nodes) - graph_bytes(w.nodes);
  return c;
}

std::optional<Choice> Choices::repeating(Ways& w, const Fits& fits) {
  const int64_t kernels = w.as_it_is.held() - graph_bytes(w.nodes);
  if (!w.repeats || !fits(w.floor, kernels)) return std::nullopt;
  const std::optional<size_t> rung =
      ladder(w).first([&](int64_t arena, size_t nodes) { return fits(arena, kernels + graph_bytes(nodes)); });
  return rung ? std::optional(of_rung(w, *rung)) : std::nullopt;
}

std::optional<Choice> Choices::cheapest(const Fits& fits) {
  const auto as_it_is = [&](const Ways& w) { return fits(w.as_it_is.arena, w.as_it_is.held()); };
  if (as_it_is(*ways_[0])) return ways_[0]->as_it_is;
  if (std::optional<Choice> exact = repeating(*ways_[0], fits)) return exact;
  std::optional<Choice> best;
  if (!options_.micro_batch) return best;
  size_t enough = 1;
  const auto too_large = [&] { return !fits(0, graph_bytes(jobs_ * static_cast<size_t>(parts_of(enough)))); };
  for (; !best && room_to_plan(enough) && !too_large() && ways(enough) != nullptr; ++enough) {
    if (as_it_is(*ways(enough))) best = ways(enough)->as_it_is;
  }
  // Fewer parts with values made again may take less time.
  for (size_t i = 1; i < enough; ++i) {
    if (best && ways(i)->as_it_is.extra_seconds() >= best->extra_seconds()) continue;
    std::optional<Choice> found = repeating(*ways(i), fits);
    if (found && (!best || found->extra_seconds() < best->extra_seconds())) best = std::move(found);
  }
  return best;
}

Choice Choices::smallest() {
  Choice best = ways_[0]->as_it_is;
  const auto offer = [&](Choice c) {
    if (c.arena < best.arena) best = std::move(c);
  };
  const auto is_there = [&](size_t i) {
    return i == 0 || (options_.micro_batch && room_to_plan(i) && ways(i) != nullptr);
  };
  for (size_t i = 0; is_there(i); ++i) {
    Ways& w = *ways_[i];
    offer(w.as_it_is);
    if (w.floor >= best.arena || !w.repeats) continue;
    if (const std::optional<size_t> rung = ladder(w).smallest()) offer(of_rung(w, *rung));
  }
  return best;
}

std::unique_ptr<Steps> Choices::take_steps(const Choice& choice) {
  if (choice.recipe->parts > 1 || !ways_[0]->steps) return make_steps(*graph(), options_, *choice.recipe);
  const SharedPrimitives shared;
  if (choice.rung) ways_[0]->steps->repeat(ladder(*ways_[0]).take_plan(*choice.rung));
  ways_[0]->ladder.reset();
  return std::move(ways_[0]->steps);
}

MemoryReport Choices::report(const Choice& choice, int64_t line) {
  const Recipe& recipe = *choice.recipe;
  MemoryReport r = report_of(choice, variables_);
  r.fits = choice.arena <= line;
  if (recipe.parts == 1 && !recipe.execs.empty()) r.least_extra = ladder(*ways_[0]).least_extra(line);
  const auto describe = [&](const Graph& graph, const Plan& plan) {
    r.lower_bound = plan.lower_bound();
    r.layers = layers_at_peak(graph, plan);
  };
  Ways& w = **std::ranges::find_if(ways_, [&](const auto& one) { return one->parts == recipe.parts; });
  if (choice.rung) {
    const ExecPlan& made = ladder(w).plan(*choice.rung);
    describe(made.cloned.graph, made.plan);
  } else if (w.steps) {
    describe(w.steps->graph(), w.steps->plan());
  } else {
    describe(graph_of(w), Plan::make(graph_of(w), w.scratch, plan_));
    if (!w.repeats) w.graph.reset();
  }
  return r;
}

}  // namespace plimsoll

#include "plan/ladder.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/capabilities.h"
#include "graph/op.h"
#include "plan/offsets.h"
#include "plan/recompute.h"

namespace plimsoll {
namespace {

// Each rung is this share of the one above.
constexpr double kRung = 0.97;
// Execs replayed by one way down: about a second at most for all of them, of both orders.
constexpr size_t kWork = 6'000'000;
// Each gives one plan for a peak, the cheapest is taken: none is best for all graphs.
constexpr WayDown kWays[] = {{.far = 0.0}, {.far = 0.5}, {.far = 1.0}, {.far = 0.5, .holds = true}};

// What a core does and what memory gives, about: only how ops compare with each other matters.
constexpr double kFlopsPerSecond = 40e9, kBytesPerSecond = 8e9, kSecondsPerCall = 1e-6;

std::vector<double> seconds_of(const Dataflow& flow, int threads) {
  std::vector<double> seconds;
  for (Dataflow::Run r = 0; r < flow.runs().size(); ++r) {
    const NodeCall n(flow.graph(), flow.node(r));
    const Cost cost = cost_of(n.call(), n.out);
    seconds.push_back(kSecondsPerCall +
                      std::max(cost.flops / (kFlopsPerSecond * threads), cost.bytes / kBytesPerSecond));
  }
  return seconds;
}

std::vector<int64_t> scratch_of(const Dataflow& flow, std::span<const int64_t> scratch) {
  std::vector<int64_t> bytes;
  for (const NodeId n : flow.runs()) bytes.push_back(n < scratch.size() ? scratch[n] : 0);
  return bytes;
}

int64_t aligned(int64_t bytes) {
  return (bytes + kOffsetAlignment - 1) / kOffsetAlignment * kOffsetAlignment;
}

}  // namespace

ExecPlan plan_execs(const Graph& graph, std::span<const Exec> execs, std::span<const int64_t> scratch,
                    const PlanOptions& options) {
  const Dataflow flow(graph, options.reuse, false, options.can);
  ExecPlan made{clone_nodes(flow, execs), {}};
  std::vector<int64_t> of_clones;
  for (const NodeId n : made.cloned.from) of_clones.push_back(n < scratch.size() ? scratch[n] : 0);
  PlanOptions given = options;
  given.reorder = false;
  made.plan = Plan::make(made.cloned.graph, of_clones, given);
  return made;
}

double run_seconds(const Graph& graph, int threads) {
  const std::vector<double> seconds = seconds_of(Dataflow(graph, true, false), threads);
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

int64_t least_arena(const Graph& graph, std::span<const int64_t> scratch, const PlanOptions& options) {
  const Dataflow flow(graph, options.reuse, false, options.can);
  const auto in_arena = [&](ValueId v) { return flow.fixed(v).kind == Place::Kind::none; };
  int64_t least = 0;
  for (Dataflow::Run r = 0; r < flow.runs().size(); ++r) {
    const Node& node = flow.node(r);
    int64_t sum = flow.runs()[r] < scratch.size() ? scratch[flow.runs()[r]] : 0;
    std::vector<ValueId> read;
    for (const ValueId v : node.inputs) read.push_back(flow.root(v));
    std::ranges::sort(read);
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const ValueId v : read) sum += in_arena(v) && !flow.read_at_end(v) ? aligned(flow.bytes(v)) : 0;
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId v = node.outputs[k];
      if (in_arena(v) && !flow.read_at_end(v) && flow.in_place(r, k) == 0) sum += aligned(flow.bytes(v));
    }
    least = std::max(least, sum);
  }
  return least;
}

Ladder::Ladder(const Graph& graph, std::vector<int64_t> scratch, const PlanOptions& options, int threads)
    : graph_(graph), scratch_(std::move(scratch)), options_(options) {
  const Dataflow flow(graph_, options.reuse, false, options.can);
  if (flow.runs().empty() || !options.reuse || !options.reorder) return;
  orders_ = {graph_order(flow, EarlyUpdates::all), list_order(flow)};
  for (const Order& order : orders_) {
    Replay replay(flow, order, scratch_of(flow, scratch_), seconds_of(flow, threads));
    peaks_.push_back(peak_of(replay));
    for (const WayDown& way : kWays) {
      go_down(replay, way);
      keep_best();  // at once: what is not kept takes memory that the line may not have
    }
  }
}

Ladder::Peak Ladder::peak_of(Replay& replay) {
  const Replay::Drops none = replay.none();
  replay.run(none, SIZE_MAX);
  Peak peak{.bytes = replay.peak()};
  std::vector<Replay::Idle> idle;
  replay.idle_at(replay.peak_at(), false, idle);
  for (const Replay::Idle& i : idle) peak.idle.push_back({i.bytes, replay.seconds_of_gap(i.gap)});
  std::ranges::sort(peak.idle, {}, [](const Idle& i) { return i.seconds / static_cast<double>(i.bytes); });
  return peak;
}

void Ladder::go_down(Replay& replay, const WayDown& chosen) {
  Recompute way(replay, chosen, kWork);
  const auto add = [&] {
    Rung r{.peak = replay.peak(), .extra_seconds = replay.extra_seconds(), .order = peaks_.size() - 1};
    const std::span<const Exec> execs = replay.execs();
    for (uint32_t at = 0; at < execs.size(); ++at) {
      if (execs[at].again) r.repeats.push_back({at, execs[at].run});
    }
    r.repeats.shrink_to_fit();
    rungs_.push_back(std::move(r));
  };
  add();
  auto target = static_cast<double>(replay.peak());
  for (bool reached = true; reached && target > 0;) {
    target *= kRung;
    if (static_cast<double>(replay.peak()) <= target) continue;
    reached = way.reach(static_cast<int64_t>(target));
    add();
  }
}

// What takes more time than another must have a lower peak.
void Ladder::keep_best() {
  std::ranges::stable_sort(rungs_, {}, [](const Rung& r) { return std::pair(r.extra_seconds, r.peak); });
  int64_t lowest = INT64_MAX;
  std::erase_if(rungs_,
                [&](const Rung& r) { return r.peak >= std::exchange(lowest, std::min(lowest, r.peak)); });
}

std::vector<Exec> Ladder::execs(size_t i) const {
  const Rung& rung = rungs_[i];
  std::vector<Exec> list;
  auto next = rung.repeats.begin();
  const auto repeat = [&] {
    for (; next != rung.repeats.end() && next->at == list.size(); ++next) list.push_back({next->run, true});
  };
  for (const Dataflow::Run r : orders_[rung.order]) {
    repeat();
    list.push_back({r, false});
  }
  repeat();
  return list;
}

const ExecPlan& Ladder::plan(size_t i) {
  if (!last_ || last_rung_ != i) {
    last_.reset();
    last_ = plan_execs(graph_, execs(i), scratch_, options_);
    last_rung_ = i;
  }
  return *last_;
}

ExecPlan Ladder::take_plan(size_t i) {
  plan(i);
  ExecPlan taken = std::move(*last_);
  last_.reset();
  return taken;
}

const Ladder::Rung& Ladder::planned(size_t i) {
  Rung& r = rungs_[i];
  if (r.arena >= 0) return r;
  const ExecPlan& made = plan(i);
  r.arena = std::max(made.plan.arena_bytes(), r.peak);
  r.nodes = made.cloned.graph.nodes().size();
  return r;
}

std::optional<size_t> Ladder::first(const Fits& fits) {
  for (size_t i = 0; i < rungs_.size(); ++i) {
    const Rung& before = rungs_[i];
    if (!fits(before.peak, orders_[before.order].size() + before.repeats.size())) continue;
    const Rung& r = planned(i);
    if (fits(r.arena, r.nodes)) return i;
  }
  return std::nullopt;
}

std::optional<size_t> Ladder::smallest() {
  std::optional<size_t> best;
  for (size_t i = rungs_.size(); i-- > 0;) {
    if (best && rungs_[*best].arena <= rungs_[i].peak) break;
    if (!best || planned(i).arena <= rungs_[*best].arena) best = (planned(i), i);
  }
  return best;
}

double Ladder::least_extra(int64_t line) const {
  double least = std::numeric_limits<double>::infinity();
  for (const Peak& peak : peaks_) {
    int64_t over = peak.bytes - line;
    double sum = 0;
    for (const Idle& i : peak.idle) {
      if (over <= 0) break;
      const int64_t part = std::min(over, i.bytes);
      sum += i.seconds * static_cast<double>(part) / static_cast<double>(i.bytes);
      over -= part;
    }
    least = std::min(least, sum);
  }
  return peaks_.empty() ? 0 : least;
}

}  // namespace plimsoll

#include "plan/under_line.h"

#include <algorithm>
#include <numeric>

#include "graph/capabilities.h"
#include "graph/op.h"
#include "plan/offsets.h"
#include "plan/recompute.h"

namespace plimsoll {
namespace {

// The steps down are fixed shares of the peak without a line, so that plans for two lines that are close to
// each other are the same, and neither is better than it should be.
constexpr double kRung = 0.97;
// Offsets may need more bytes than are alive at once: so many rungs below the line are tried.
constexpr int kTries = 10;
// How much more it is worth to drop what is used again late; each gives one plan, the cheapest is taken.
constexpr double kFar[] = {0.0, 0.5, 1.0};

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

// What has to be made again because it does not fit under the line when most is alive: the least seconds for
// the bytes.
double certificate(Replay& replay, int64_t line) {
  replay.run(Replay::Drops(replay.gaps(), 0), SIZE_MAX);
  int64_t over = replay.peak() - line;
  std::vector<Replay::Idle> idle;
  replay.idle_at(replay.peak_at(), idle);
  const auto price = [&](const Replay::Idle& i) {
    return replay.seconds_of_gap(i.gap) / static_cast<double>(i.bytes);
  };
  std::sort(idle.begin(), idle.end(), [&](const auto& a, const auto& b) { return price(a) < price(b); });
  double sum = 0;
  for (const Replay::Idle& i : idle) {
    if (over <= 0) break;
    const int64_t part = std::min(over, i.bytes);
    sum += price(i) * static_cast<double>(part);
    over -= part;
  }
  return sum;
}

class Search {
 public:
  Search(const Graph& graph, Plan plan, std::span<const int64_t> scratch, const PlanOptions& options,
         int threads)
      : scratch_(scratch),
        options_(options),
        flow_(graph, options.reuse, false, options.can),
        seconds_(seconds_of(flow_, threads)) {
    best_.plan = std::move(plan);
    best_.report.unlimited = best_.plan.arena_bytes();
    best_.report.seconds = std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
  }

  LinePlan under(int64_t line) {
    const bool may_change = options_.reuse && options_.reorder;
    if (best_.plan.arena_bytes() > line && may_change) search(line);
    best_.report.fits = best_.plan.arena_bytes() <= line;
    return std::move(best_);
  }

 private:
  void search(int64_t line) {
    for (const Order& order : {graph_order(flow_, true), list_order(flow_)}) {
      Replay replay(flow_, order, scratch_of(flow_, scratch_), seconds_);
      for (const double far : kFar) go_down(replay, far, line);
      const double least = certificate(replay, line);
      double& bound = best_.report.least_extra;
      bound = bound == 0 ? least : std::min(bound, least);
    }
  }

  // Rungs at or below the line, until one's plan fits with its offsets. Where none does, the lowest there is.
  void go_down(Replay& replay, double far, int64_t line) {
    Recompute way(replay, far);
    auto target = way.lowest();
    for (int tries = 0; target > 0 && tries < kTries;) {
      target = static_cast<int64_t>(kRung * static_cast<double>(target));
      if (target > line && line > 0) continue;
      if (!way.reach(target)) {
        target = way.lowest();
        tries = kTries;
      } else if (line == 0) {
        continue;
      }
      ++tries;
      way.undo(target);
      if (offer(replay, line)) return;
    }
  }

  // Plans what the replay says; true if it fits.
  bool offer(const Replay& replay, int64_t line) {
    const bool fits_now = best_.plan.arena_bytes() <= line;
    if (fits_now && replay.extra_seconds() >= best_.report.extra_seconds) return true;
    Cloned cloned = clone_nodes(flow_, replay.execs());
    std::vector<int64_t> scratch;
    for (const NodeId n : cloned.from) scratch.push_back(n < scratch_.size() ? scratch_[n] : 0);
    PlanOptions options = options_;
    options.reorder = false;
    options.enough = line;
    Plan plan = Plan::make(cloned.graph, scratch, options);
    const bool fits = plan.arena_bytes() <= line;
    if (fits_now ? fits : plan.arena_bytes() < best_.plan.arena_bytes()) {
      best_.plan = std::move(plan);
      best_.cloned = std::move(cloned);
      best_.report.extra_seconds = replay.extra_seconds();
    }
    return fits;
  }

  std::span<const int64_t> scratch_;
  const PlanOptions& options_;
  Dataflow flow_;
  std::vector<double> seconds_;
  LinePlan best_;
};

}  // namespace

LinePlan plan_under(const Graph& graph, Plan plan, std::span<const int64_t> scratch,
                    const PlanOptions& options, int64_t line, int threads) {
  return Search(graph, std::move(plan), scratch, options, threads).under(line);
}

}  // namespace plimsoll

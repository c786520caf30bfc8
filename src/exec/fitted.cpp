#include "exec/fitted.h"

#include <algorithm>
#include <optional>

#include "device/cpu/thread_pool.h"
#include "exec/device_steps.h"
#include "exec/step_list.h"
#include "memory/arena.h"
#include "memory/budget.h"
#include "memory/line.h"
#include "passes/passes.h"
#include "plan/micro_batch.h"
#include "plan/row_jobs.h"

namespace plimsoll {
namespace {

// An arena of fewer bytes is not worth asking the system about.
constexpr int64_t kMuch = 32 << 20;

// What the lines around this thread leave for the arena, with what it has; what can be made again goes first.
int64_t arena_left(int64_t wanted, int64_t program, const Arena* arena) {
  const auto left = [&] {
    int64_t bytes = account::left();
    // Without a line, what the system has. Asked where it matters.
    if (bytes == account::kNoLimit && wanted >= kMuch) bytes = line::room();
    return bytes == account::kNoLimit ? kNoLine : bytes - program + (arena ? arena->bytes() : 0);
  };
  while (left() < wanted && account::reclaim()) {
  }
  return left();
}

const Capabilities& capabilities(const CompileOptions& o) {
  return o.device ? o.device->capabilities() : cpu_capabilities();
}

// Steps of one graph, cut or not.
class Maker {
 public:
  Maker(const CompileOptions& options, bool ready) : options_(options), ready_(ready) {}

  // The graph as what it will run on likes it.
  Graph prepared(const Graph& graph) const {
    return run_passes(graph, options_.skip_passes, capabilities(options_));
  }

  // Requires: prepared.
  std::unique_ptr<Steps> steps(Graph graph, const ArenaLine& line, bool ready) const {
    const PlanOptions plan{.reuse = !options_.no_reuse, .reorder = !options_.no_reuse};
    if (options_.device)
      return std::make_unique<DeviceSteps>(std::move(graph), options_.device, plan, line, ready);
    StepOptions s;
    s.threads = available_threads(options_.threads > 0 ? options_.threads : hardware_threads());
    s.reference_kernels = options_.reference_kernels;
    s.poison = options_.poison;
    s.plan = plan;
    s.line = line;
    return std::make_unique<StepList>(std::move(graph), s);
  }

  FittedSteps whole(const Graph& graph) const {
    FittedSteps made{steps(prepared(graph), arena_line(options_), ready_), {}, 1};
    made.line = made.steps->line();
    return made;
  }

  FittedSteps fit(const Graph& graph);

 private:
  bool room_to_plan(int64_t parts) const;
  std::optional<Graph> cut(int64_t parts) const;
  std::optional<FittedSteps> in_parts(int64_t parts, const ArenaLine& line, bool ready) const;
  void offer(FittedSteps& best, std::optional<FittedSteps> made) const;
  void search(FittedSteps& best);

  const CompileOptions& options_;
  bool ready_;
  std::optional<Graph> apart_;  // prepared, of nodes that can be cut
  LineReport unlimited_;
};

// To plan takes memory of the process too, with every part a copy of the graph.
bool Maker::room_to_plan(int64_t parts) const {
  constexpr int64_t kBytesPerNode = 12 << 10;
  return account::limit() == account::kNoLimit ||
         parts * static_cast<int64_t>(apart_->nodes().size()) * kBytesPerNode <=
             account::limit() - account::used();
}

std::optional<Graph> Maker::cut(int64_t parts) const {
  std::optional<Graph> made = cut_batch(*apart_, parts);
  // Ops that only ranges have may be new to the device.
  if (made && has_to_lower(*made, capabilities(options_))) made = pass_lower(*made, capabilities(options_));
  return made;
}

std::optional<FittedSteps> Maker::in_parts(int64_t parts, const ArenaLine& line, bool ready) const {
  std::optional<Graph> graph = cut(parts);
  if (!graph) return std::nullopt;
  FittedSteps made{steps(std::move(*graph), line, ready), unlimited_, parts};
  const LineReport& own = made.steps->line();
  made.line.fits = own.fits;
  made.line.extra_seconds = std::max(0.0, own.seconds + own.extra_seconds - unlimited_.seconds);
  made.line.least_extra = 0;
  return made;
}

// Takes what fits in less time, or where nothing does, in fewer bytes.
void Maker::offer(FittedSteps& best, std::optional<FittedSteps> made) const {
  if (!made) return;
  const bool better = made->line.fits == best.line.fits
                          ? made->line.fits
                                ? made->line.extra_seconds < best.line.extra_seconds
                                : made->steps->plan().arena_bytes() < best.steps->plan().arena_bytes()
                          : made->line.fits;
  if (better) best = std::move(*made);
}

// Doubles the parts until they fit as they are, or do not help. Half as many, with values made again, may
// take less time than that; and where sums stand between the ranges, that may fit where no number does as it
// is.
void Maker::search(FittedSteps& best) {
  constexpr double kLess = 0.95;  // of the bytes: else it did not help
  constexpr double kNear = 2.2;   // times the line: twice as many parts may well fit as they are
  constexpr int64_t kMostParts = 64;
  constexpr size_t kMostNodes = 5000, kFewNodes = 2500;  // worth the time of a search: some seconds, or less
  const ArenaLine line = arena_line(options_);
  int64_t smallest = best.line.unlimited;
  bool helped = true;
  // So few that twice as many cannot fit as they are need not be tried.
  const int64_t room = line(smallest, best.steps->bytes());
  int64_t first = 2;
  while (room > 0 && 4 * first < smallest / room && first < kMostParts) first *= 2;
  for (int64_t k = first; k <= kMostParts && room_to_plan(k); k *= 2) {
    std::optional<FittedSteps> made = in_parts(k, nullptr, false);
    if (!made) return;
    const int64_t arena = made->steps->plan().arena_bytes();
    const size_t nodes = made->steps->graph().nodes().size();
    made->line.fits = arena <= line(arena, made->steps->bytes());
    const bool fits = made->line.fits, helps = fits || arena < kLess * static_cast<double>(smallest);
    const bool near = static_cast<double>(arena) < kNear * static_cast<double>(room);
    if (!fits && (helps ? near && nodes <= kMostNodes : nodes <= kFewNodes))
      offer(best, in_parts(k, line, false));
    offer(best, std::move(made));
    if (fits || !(helps || helped)) return;
    helped = helps || k == first;
    smallest = std::min(smallest, arena);
  }
}

FittedSteps Maker::fit(const Graph& graph) {
  const bool forced = options_.parts > 1;
  FittedSteps best = whole(graph);
  if (!forced && (best.line.fits || !options_.micro_batch)) return best;
  if (options_.no_reuse && !forced) return best;
  unlimited_ = best.line;
  unlimited_.extra_seconds = 0;
  apart_ = prepared(take_apart(pass_lower(graph, capabilities(options_))));
  if (forced) {
    std::optional<FittedSteps> made =
        in_parts(std::min(options_.parts, batch_rows(graph)), arena_line(options_), ready_);
    return made ? std::move(*made) : std::move(best);
  }
  search(best);
  if (best.parts > 1 && ready_ && options_.device) best = *in_parts(best.parts, arena_line(options_), true);
  return best;
}

}  // namespace

ArenaLine arena_line(const CompileOptions& o) {
  if (o.memory >= 0) return [line = o.memory](int64_t, int64_t) { return line; };
  if (o.device) {
    return [device = o.device](int64_t, int64_t) {
      const DeviceAccount& account = device->account();
      if (account.limit() == account::kNoLimit) return kNoLine;
      return account.limit() - account.used() + device->arena_bytes();
    };
  }
  return
      [arena = o.arena](int64_t wanted, int64_t program) { return arena_left(wanted, program, arena.get()); };
}

FittedSteps fit_steps(const Graph& graph, const CompileOptions& options, bool ready) {
  return Maker(options, ready).fit(graph);
}

}  // namespace plimsoll

#include "plan/plan.h"

#include <algorithm>

#include "graph/capabilities.h"
#include "plan/dataflow.h"
#include "plan/lifetimes.h"
#include "plan/offsets.h"
#include "plan/order.h"

namespace plimsoll {
namespace {

// One order, measured.
struct Candidate {
  Order order;
  Lifetimes lifetimes;
  std::vector<OffsetItem> items;  // the blocks, then the scratch of each step, then what is staged
  int64_t bound = 0;
  Offsets offsets;  // of the items; only of candidates that were worth it
};

int64_t scratch_of(std::span<const int64_t> scratch, NodeId node) {
  return node < scratch.size() ? scratch[node] : 0;
}

// Variables that go to other variables at the end, and are themselves written then.
std::vector<ValueId> variables_to_stage(const Dataflow& flow) {
  std::vector<ValueId> staged;
  const std::vector<GraphUpdate>& updates = flow.graph().updates();
  for (const GraphUpdate& update : updates) {
    const ValueId from = flow.root(update.next);
    const auto writes_it = [&](const GraphUpdate& u) { return u.variable == from; };
    if (from == update.variable || std::none_of(updates.begin(), updates.end(), writes_it)) continue;
    if (std::find(staged.begin(), staged.end(), from) == staged.end()) staged.push_back(from);
  }
  return staged;
}

// Where all sizes are multiples of it, all offsets are too.
void align(std::vector<OffsetItem>& items, int64_t alignment) {
  for (OffsetItem& item : items) {
    if (item.bytes > 0 && item.bytes < INT64_MAX - alignment)
      item.bytes = (item.bytes + alignment - 1) / alignment * alignment;
  }
}

Candidate measure(const Dataflow& flow, std::span<const int64_t> scratch, Order order,
                  const PlanOptions& options) {
  Candidate c;
  const bool reuse = options.reuse;
  c.lifetimes = find_lifetimes(flow, order, reuse);
  const int32_t steps = static_cast<int32_t>(order.size());
  for (const Block& block : c.lifetimes.blocks) {
    // Without reuse everything lives all the time.
    c.items.push_back(
        {block.output < 0 ? block.bytes : 0, reuse ? block.first : 0, reuse ? block.last : steps + 1});
  }
  for (int32_t step = 0; step < steps; ++step) {
    const int64_t bytes = scratch_of(scratch, flow.runs()[order[static_cast<size_t>(step)]]);
    c.items.push_back({bytes, reuse ? step : 0, reuse ? step : steps + 1});
  }
  for (const ValueId v : variables_to_stage(flow)) c.items.push_back({flow.bytes(v), steps, steps + 1});
  if (options.can) align(c.items, options.can->limits().alignment);
  c.bound = live_bytes_bound(c.items);
  c.order = std::move(order);
  return c;
}

std::vector<Candidate> candidates(const Dataflow& flow, std::span<const int64_t> scratch,
                                  const PlanOptions& options) {
  std::vector<Candidate> list;
  if (!options.reorder) {
    Order order(flow.runs().size());
    for (Dataflow::Run r = 0; r < order.size(); ++r) order[r] = r;
    list.push_back(measure(flow, scratch, std::move(order), options));
    return list;
  }
  list.push_back(measure(flow, scratch, graph_order(flow, EarlyUpdates::all), options));
  list.push_back(measure(flow, scratch, graph_order(flow, EarlyUpdates::none), options));
  list.push_back(measure(flow, scratch, post_order(flow), options));
  list.push_back(measure(flow, scratch, list_order(flow), options));
  // Of equal ones the first is kept: close to the graph's order, which passes have thought about.
  std::stable_sort(list.begin(), list.end(),
                   [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
  return list;
}

// The one that needs the fewest bytes. Offsets are tried for those only that can still be better.
Candidate best_of(std::vector<Candidate> list) {
  size_t best = 0;
  list[0].offsets = assign_offsets(list[0].items);
  for (size_t i = 1; i < list.size() && list[i].bound < list[best].offsets.total; ++i) {
    list[i].offsets = assign_offsets(list[i].items);
    if (list[i].offsets.total < list[best].offsets.total) best = i;
  }
  return std::move(list[best]);
}

// On a device that joins small nodes, an order that lets it, if that takes no more than an eighth and some
// bytes beyond the best.
constexpr int64_t kShareForJoining = 8, kBytesForJoining = 64 << 20;

Candidate joining(const Dataflow& flow, std::span<const int64_t> scratch, const PlanOptions& options,
                  Candidate best) {
  if (!options.can || !options.can->limits().joins || !options.reorder || !options.joins) return best;
  const int64_t least = best.offsets.total;
  const int64_t most = least + least / kShareForJoining + kBytesForJoining;
  Candidate c = measure(flow, scratch, graph_order(flow, EarlyUpdates::large), options);
  if (c.bound > most) return best;
  c.offsets = assign_offsets(c.items);
  return c.offsets.total <= most ? std::move(c) : std::move(best);
}

std::vector<Place> places_of(const Dataflow& flow, const Candidate& c) {
  std::vector<Place> places(flow.graph().values().size());
  for (ValueId v = 0; v < places.size(); ++v) {
    const uint32_t block = c.lifetimes.block_of[flow.root(v)];
    if (block == Lifetimes::kNoBlock) {
      places[v] = flow.fixed(flow.root(v));
    } else if (c.lifetimes.blocks[block].output >= 0) {
      places[v] = {Place::Kind::output, c.lifetimes.blocks[block].output};
    } else {
      places[v] = {Place::Kind::arena, c.offsets.at[block]};
    }
  }
  return places;
}

std::vector<std::vector<ValueId>> dying_of(const Candidate& c) {
  std::vector<std::vector<ValueId>> dying(c.order.size());
  for (const Block& block : c.lifetimes.blocks) {
    const size_t last = static_cast<size_t>(block.last);
    if (block.output < 0 && last < dying.size()) dying[last].push_back(block.holds);
  }
  return dying;
}

// Outputs first, as they may read variables; then variables out of the way of each other; then variables.
std::vector<PlanCopy> copies_of(const Dataflow& flow, const Candidate& c, const std::vector<Place>& places) {
  std::vector<PlanCopy> copies;
  const std::vector<GraphOutput>& outputs = flow.graph().outputs();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const ValueId from = outputs[k].value;
    const Place to = {Place::Kind::output, static_cast<int64_t>(k)};
    if (places[from] != to) copies.push_back({from, to, places[from]});
  }
  std::vector<Place> now = places;
  size_t item = c.lifetimes.blocks.size() + c.order.size();
  for (const ValueId variable : variables_to_stage(flow)) {
    const Place to = {Place::Kind::arena, c.offsets.at[item++]};
    copies.push_back({variable, to, now[variable]});
    now[variable] = to;
  }
  for (const GraphUpdate& update : flow.graph().updates()) {
    const ValueId from = flow.root(update.next);
    const Place to = flow.fixed(update.variable);
    if (places[from] != to) copies.push_back({from, to, now[from]});
  }
  return copies;
}

}  // namespace

Plan Plan::make(const Graph& graph, std::span<const int64_t> scratch, const PlanOptions& options) {
  const Dataflow flow(graph, options.reuse, !options.reorder, options.can);
  const Candidate best = joining(flow, scratch, options, best_of(candidates(flow, scratch, options)));
  Plan plan;
  plan.scratch_.assign(graph.nodes().size(), 0);
  for (size_t step = 0; step < best.order.size(); ++step) {
    const NodeId node = flow.runs()[best.order[step]];
    plan.order_.push_back(node);
    plan.scratch_[node] = best.offsets.at[best.lifetimes.blocks.size() + step];
  }
  plan.places_ = places_of(flow, best);
  plan.dying_ = dying_of(best);
  plan.copies_ = copies_of(flow, best, plan.places_);
  plan.arena_bytes_ = best.offsets.total;
  plan.lower_bound_ = best.bound;
  return plan;
}

}  // namespace plimsoll

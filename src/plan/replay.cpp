#include "plan/replay.h"

#include <algorithm>

#include "graph/op.h"
#include "plan/offsets.h"

namespace plimsoll {
namespace {

// How many values may have to be made one for the other, on the stack of need().
constexpr int kDeepest = 2000;
// How many nodes seconds_to_make() looks at.
constexpr size_t kEstimated = 32;
// How many times smaller a value must be to be held in place of another.
constexpr int64_t kWorthHolding = 2;

int64_t aligned(int64_t bytes) {
  return (bytes + kOffsetAlignment - 1) / kOffsetAlignment * kOffsetAlignment;
}

bool is_output(const Graph& graph, const Dataflow& flow, ValueId root) {
  return std::ranges::any_of(graph.outputs(),
                             [&](const GraphOutput& o) { return flow.root(o.value) == root; });
}

}  // namespace

Replay::Replay(const Dataflow& flow, const Order& order, std::vector<int64_t> scratch,
               std::vector<double> seconds)
    : flow_(flow), order_(order), scratch_(std::move(scratch)), seconds_(std::move(seconds)) {
  const size_t values = flow.graph().values().size(), runs = flow.runs().size();
  bytes_.resize(values, 0);
  maker_.assign(values, kNone);
  for (Run r = 0; r < runs; ++r) {
    for (const ValueId v : flow.node(r).outputs) {
      if (flow.fixed(v).kind != Place::Kind::none) continue;
      maker_[v] = r;
      // An output has its place outside the arena.
      if (!flow.read_at_end(v) || !is_output(flow.graph(), flow, v)) bytes_[v] = aligned(flow.bytes(v));
    }
  }
  std::vector<uint32_t> step_of(runs);
  for (uint32_t step = 0; step < runs; ++step) step_of[order[step]] = step;
  first_gap_.assign(values + 1, 0);
  for (ValueId v = 0; v < values; ++v) {
    first_gap_[v] = static_cast<uint32_t>(gap_end_.size());
    if (!in_arena(v)) continue;
    for (const Run r : flow.readers(v)) gap_end_.push_back(step_of[r]);
    std::sort(gap_end_.begin() + first_gap_[v], gap_end_.end());
    if (flow.read_at_end(v)) gap_end_.push_back(static_cast<uint32_t>(runs));
    root_of_gap_.resize(gap_end_.size(), v);
  }
  gap_count_ = first_gap_[values] = static_cast<uint32_t>(gap_end_.size());
  for (Run r = 0; r < runs; ++r) {
    first_read_.push_back(static_cast<uint32_t>(reads_.size()));
    for (const ValueId v : flow.node(r).inputs) {
      const ValueId root = flow.root(v);
      const auto begin = reads_.begin() + first_read_[r];
      if (in_arena(root) && std::find(begin, reads_.end(), root) == reads_.end()) reads_.push_back(root);
    }
  }
  first_read_.push_back(static_cast<uint32_t>(reads_.size()));
}

bool Replay::can_drop(ValueId root) const { return flow_.node(maker_[root]).op->pure; }

// Nobody waits for it, and it has no use left or is to be dropped.
bool Replay::may_go(ValueId root) const {
  const State& s = state_[root];
  if (s.pins > 0 || s.stay == kNone) return false;
  return s.use > uses(root) ? s.holds == 0 : s.drops < times(gap(root));
}

void Replay::begin_holds() {
  hold_ended_.assign(drops_->holds.size(), false);
  ended_.clear();
  for (const Hold& h : drops_->holds) {
    ++state_[h.root].holds;
    state_[root_of_gap_[h.gap]].holding = true;
  }
}

void Replay::end_holds(uint32_t gap) {
  const std::vector<Hold>& holds = drops_->holds;
  for (auto h = std::ranges::lower_bound(holds, gap, {}, &Hold::gap); h != holds.end() && h->gap == gap;
       ++h) {
    const auto i = static_cast<size_t>(h - holds.begin());
    if (hold_ended_[i]) continue;
    hold_ended_[i] = true;
    --state_[h->root].holds;
    ended_.push_back(h->root);
  }
}

void Replay::release_ended() {
  for (const ValueId root : ended_) {
    if (may_go(root)) release(root);
  }
  ended_.clear();
}

void Replay::arrive(ValueId root) {
  State& s = state_[root];
  s.stay = static_cast<uint32_t>(stays_.size());
  const auto now = static_cast<uint32_t>(execs_.size());
  stays_.push_back({root, now, now, last_stay_[root]});
  last_stay_[root] = s.stay;
  live_ += bytes_[root];
}

void Replay::release(ValueId root) {
  State& s = state_[root];
  if (s.use <= uses(root)) ++s.drops;
  stays_[s.stay].last = static_cast<uint32_t>(execs_.size() - 1);
  s.stay = kNone;
  live_ -= bytes_[root];
}

// Bytes of outputs that lie where inputs were which die here.
int64_t Replay::taken_over(Run r) const {
  int64_t sum = 0;
  const Node& node = flow_.node(r);
  uint64_t used = 0;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId out = node.outputs[k];
    if (!in_arena(out)) continue;
    for (uint64_t mask = flow_.in_place(r, k) & ~used; mask != 0; mask &= mask - 1) {
      const auto i = static_cast<size_t>(__builtin_ctzll(mask));
      if (i >= node.inputs.size()) break;
      const ValueId root = flow_.root(node.inputs[i]);
      if (!in_arena(root) || bytes_[root] < bytes_[out] || state_[root].pins != 1) continue;
      const State& s = state_[root];
      const bool dies = s.use > uses(root) ? s.holds == 0 : s.drops < times(gap(root));
      if (!dies) continue;
      used |= uint64_t{1} << i;
      sum += bytes_[out];
      break;
    }
  }
  return sum;
}

// Pins the value, and makes it again if it is not there.
bool Replay::need(ValueId root, int depth) {
  if (state_[root].stay == kNone) {
    if (depth > kDeepest || !can_drop(root) || !execute(maker_[root], true, root, depth + 1)) return false;
  }
  ++state_[root].pins;
  return true;
}

bool Replay::execute(Run r, bool again, ValueId wanted, int depth) {
  const std::span<const ValueId> inputs = reads(r);
  const auto began = static_cast<uint32_t>(execs_.size());
  for (const ValueId root : inputs) {
    if (!need(root, depth)) return false;
  }
  if (execs_.size() >= most_) return false;
  const auto here = static_cast<uint32_t>(execs_.size());
  for (const ValueId root : inputs) {
    if (here > began) busy_.push_back({state_[root].stay, began, here});
    if (again) continue;
    if (state_[root].holding) end_holds(gap(root));
    ++state_[root].use;
    state_[root].drops = 0;
  }
  int64_t during = live_ + scratch_[r] - taken_over(r);
  const Node& node = flow_.node(r);
  for (const ValueId v : node.outputs) {
    if (!in_arena(v)) continue;
    State& s = state_[v];
    during += bytes_[v];
    if (!again) s.use = 1;
    // Made beside what was wanted: kept if it would have to be made again otherwise.
    const bool kept =
        !again || v == wanted ||
        (s.stay == kNone && s.use > 0 && s.use <= uses(v) && s.drops >= times(gap(v)));
    if (kept && s.stay == kNone) arrive(v);
    // It is not dropped once more.
    if (again && s.holding && s.use > 0 && s.use <= uses(v) && s.drops >= times(gap(v))) end_holds(gap(v));
  }
  execs_.push_back({r, again});
  if (again) extra_ += seconds_[r];
  if (during > peak_) {
    peak_ = during;
    peak_at_ = here;
  }
  for (const ValueId root : inputs) {
    --state_[root].pins;
    if (may_go(root)) release(root);
  }
  for (const ValueId v : node.outputs) {
    if (v != wanted && in_arena(v) && may_go(v)) release(v);
  }
  release_ended();
  return true;
}

bool Replay::run(const Drops& drops, size_t most) {
  drops_ = &drops;
  most_ = most;
  state_.assign(bytes_.size(), {});
  last_stay_.assign(bytes_.size(), kNone);
  execs_.clear();
  exec_of_step_.clear();
  stays_.clear();
  busy_.clear();
  begin_holds();
  live_ = peak_ = 0;
  peak_at_ = 0;
  extra_ = 0;
  for (const Run r : order_) {
    if (!execute(r, false, kNone, 0)) return false;
    exec_of_step_.push_back(static_cast<uint32_t>(execs_.size() - 1));
  }
  for (ValueId v = 0; v < bytes_.size(); ++v) {
    if (in_arena(v) && flow_.read_at_end(v) && !need(v, 0)) return false;
  }
  for (State& s : state_) {
    if (s.stay != kNone) stays_[s.stay].last = static_cast<uint32_t>(execs_.size());
  }
  exec_of_step_.push_back(static_cast<uint32_t>(execs_.size()));
  return true;
}

bool Replay::alive_at(ValueId root, uint32_t exec) const {
  for (uint32_t s = last_stay_[root]; s != kNone; s = stays_[s].before) {
    if (stays_[s].first <= exec && exec <= stays_[s].last) return true;
  }
  return false;
}

double Replay::seconds_to_make(ValueId root, uint32_t exec) const {
  std::vector<Run> made = {maker_[root]};
  double sum = 0;
  for (size_t i = 0; i < made.size(); ++i) {
    sum += seconds_[made[i]];
    for (const ValueId in : reads(made[i])) {
      const bool known = std::find(made.begin(), made.end(), maker_[in]) != made.end();
      if (made.size() < kEstimated && !known && !alive_at(in, exec)) made.push_back(maker_[in]);
    }
  }
  return sum;
}

void Replay::idle_at(size_t at, bool holds, std::vector<Idle>& list) const {
  list.clear();
  const auto exec = static_cast<uint32_t>(at);
  std::vector<bool> waits(stays_.size(), false);
  for (const Busy& b : busy_) {
    if (b.first <= exec && exec <= b.last) waits[b.stay] = true;
  }
  const std::span<const ValueId> read = reads(execs_[at].run);
  for (uint32_t s = 0; s < stays_.size(); ++s) {
    const Stay& stay = stays_[s];
    const ValueId root = stay.root;
    if (stay.first >= exec || stay.last <= exec || waits[s] || bytes_[root] == 0 || !can_drop(root)) continue;
    if (std::find(read.begin(), read.end(), root) != read.end()) continue;
    const auto begin = gap_end_.begin() + first_gap_[root], end = gap_end_.begin() + first_gap_[root + 1];
    const auto next = std::find_if(begin, end, [&](uint32_t step) { return exec_of_step_[step] > exec; });
    if (next == end) continue;
    const uint32_t q = exec_of_step_[*next];
    Idle plain{root, static_cast<uint32_t>(next - gap_end_.begin()), q, bytes_[root],
               seconds_to_make(root, q)};
    list.push_back(holds ? cheapest(std::move(plain), exec) : std::move(plain));
  }
}

// The same, or with holds on small values that are not there any more at its next use, where that takes less
// time for the bytes it brings at the exec `at`.
Replay::Idle Replay::cheapest(Idle plain, uint32_t at) const {
  Idle held{plain.root, plain.gap, plain.next, plain.bytes, 0};
  std::vector<Run> made = {maker_[plain.root]};
  for (size_t i = 0; i < made.size(); ++i) {
    held.seconds += seconds_[made[i]];
    for (const ValueId in : reads(made[i])) {
      if (alive_at(in, plain.next) || std::ranges::find(held.held, in) != held.held.end()) continue;
      if (kWorthHolding * bytes_[in] <= plain.bytes) {
        held.held.push_back(in);
        if (!alive_at(in, at)) held.bytes -= bytes_[in];
      } else if (made.size() < kEstimated && std::ranges::find(made, maker_[in]) == made.end()) {
        made.push_back(maker_[in]);
      }
    }
  }
  const auto worth = [](const Idle& i) { return static_cast<double>(i.bytes) / i.seconds; };
  return !held.held.empty() && worth(held) > worth(plain) ? held : plain;
}

}  // namespace plimsoll

#include "plan/order.h"

#include <algorithm>
#include <queue>

namespace plimsoll {
namespace {

using Run = Dataflow::Run;

std::vector<uint32_t> counts_before(const Dataflow& flow) {
  std::vector<uint32_t> counts(flow.runs().size());
  for (Run r = 0; r < counts.size(); ++r) counts[r] = static_cast<uint32_t>(flow.before(r).size());
  return counts;
}

// How the bytes alive change with each run, kept up to date as runs are done.
class LiveBytes {
 public:
  explicit LiveBytes(const Dataflow& flow) : flow_(flow), left_(flow.graph().values().size()) {
    for (ValueId v = 0; v < left_.size(); ++v)
      left_[v] = flow.readers(v).size() + (flow.read_at_end(v) ? 1 : 0);
  }

  // Bytes that r frees less those it needs.
  int64_t gain(Run r) const {
    int64_t gain = 0;
    for_each_input([&](ValueId root) { gain += left_[root] == 1 ? flow_.bytes(root) : 0; }, r);
    for (const ValueId v : flow_.node(r).outputs) gain -= in_arena(v) ? flow_.bytes(v) : 0;
    return gain;
  }

  void done(Run r) {
    for_each_input([&](ValueId root) { --left_[root]; }, r);
  }

 private:
  bool in_arena(ValueId root) const { return flow_.fixed(root).kind == Place::Kind::none; }

  template <class F>
  void for_each_input(F f, Run r) const {
    const std::vector<ValueId>& inputs = flow_.node(r).inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ValueId root = flow_.root(inputs[i]);
      const auto same = [&](ValueId v) { return flow_.root(v) == root; };
      const auto here = inputs.begin() + static_cast<std::ptrdiff_t>(i);
      if (in_arena(root) && std::none_of(inputs.begin(), here, same)) f(root);
    }
  }

  const Dataflow& flow_;
  std::vector<size_t> left_;  // readers to come
};

constexpr int64_t kLarge = 4 << 20;  // bytes that an update writes

// What comes first has the smallest number.
int64_t rank_of(const Dataflow& flow, Run r, EarlyUpdates early) {
  if (early == EarlyUpdates::none || !flow.only_updates(r)) return r;
  int64_t bytes = 0;
  for (const ValueId v : flow.node(r).outputs) bytes += flow.bytes(v);
  const bool now = early == EarlyUpdates::all || bytes >= kLarge;
  return now ? -1 : static_cast<int64_t>(flow.runs().size()) + r;
}

}  // namespace

Order graph_order(const Dataflow& flow, EarlyUpdates early) {
  using Entry = std::pair<int64_t, Run>;  // smallest first
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  std::vector<uint32_t> waits = counts_before(flow);
  const auto push = [&](Run r) { ready.emplace(rank_of(flow, r, early), r); };
  for (Run r = 0; r < waits.size(); ++r) {
    if (waits[r] == 0) push(r);
  }
  Order order;
  order.reserve(waits.size());
  while (!ready.empty()) {
    const Run r = ready.top().second;
    ready.pop();
    order.push_back(r);
    for (const Run next : flow.after(r)) {
      if (--waits[next] == 0) push(next);
    }
  }
  return order;
}

Order post_order(const Dataflow& flow) {
  Order order;
  order.reserve(flow.runs().size());
  std::vector<bool> begun(flow.runs().size(), false);
  std::vector<std::pair<Run, size_t>> open;  // a run, and how many of those before it have been looked at
  for (Run sink = 0; sink < flow.runs().size(); ++sink) {
    if (!flow.after(sink).empty() || begun[sink]) continue;
    begun[sink] = true;
    open.emplace_back(sink, 0);
    while (!open.empty()) {
      auto& [r, looked] = open.back();
      if (looked == flow.before(r).size()) {
        order.push_back(r);
        open.pop_back();
        continue;
      }
      const Run needed = flow.before(r)[looked++];
      if (begun[needed]) continue;
      begun[needed] = true;
      open.emplace_back(needed, 0);
    }
  }
  return order;
}

Order list_order(const Dataflow& flow) {
  std::vector<uint32_t> waits = counts_before(flow);
  std::vector<Run> ready;
  for (Run r = 0; r < waits.size(); ++r) {
    if (waits[r] == 0) ready.push_back(r);
  }
  LiveBytes live(flow);
  Order order;
  order.reserve(waits.size());
  while (!ready.empty()) {
    size_t best = 0;
    int64_t best_gain = INT64_MIN;
    for (size_t i = 0; i < ready.size(); ++i) {
      const int64_t gain = live.gain(ready[i]);
      if (gain > best_gain || (gain == best_gain && ready[i] < ready[best])) {
        best = i;
        best_gain = gain;
      }
    }
    const Run r = ready[best];
    ready[best] = ready.back();
    ready.pop_back();
    live.done(r);
    order.push_back(r);
    for (const Run next : flow.after(r)) {
      if (--waits[next] == 0) ready.push_back(next);
    }
  }
  return order;
}

}  // namespace plimsoll

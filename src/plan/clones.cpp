#include "plan/clones.h"

#include <algorithm>
#include <numeric>

#include "graph/op.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using Run = Dataflow::Run;

// When each exec comes: not before what it needs, and what writes a variable in place not before all others
// have read it. Two rounds: readers may themselves be put off. What cannot be settled is left as it is: the
// plan then finds that the variable cannot be written in place.
std::vector<uint32_t> times(const Dataflow& flow, std::span<const Exec> execs) {
  const Graph& graph = flow.graph();
  std::vector<uint32_t> time(execs.size());
  for (uint32_t e = 0; e < time.size(); ++e) time[e] = 2 * e;  // odd ones: put off until just after another
  for (int round = 0; round < 2; ++round) {
    std::vector<uint32_t> last_read(graph.values().size(), 0), made(graph.values().size(), 0);
    for (size_t e = 0; e < execs.size(); ++e) {
      for (const ValueId v : flow.node(execs[e].run).inputs)
        last_read[flow.root(v)] = std::max(last_read[flow.root(v)], time[e]);
    }
    for (size_t e = 0; e < execs.size(); ++e) {
      const Node& node = flow.node(execs[e].run);
      for (const ValueId v : node.inputs) time[e] = std::max(time[e], made[flow.root(v)]);
      for (const ValueId v : node.outputs) {
        const Place& place = flow.fixed(v);
        if (place.kind != Place::Kind::variable) continue;
        const uint32_t last = last_read[graph.variables()[static_cast<size_t>(place.at)].value];
        if (last > time[e]) time[e] = last | 1;
      }
      for (const ValueId v : node.outputs) made[v] = time[e];
    }
  }
  return time;
}

class Cloner {
 public:
  explicit Cloner(const Dataflow& flow) : flow_(flow), old_(flow.graph()), map_(old_.values().size(), kNone) {
    source_.assign(map_.size(), kNone);
    for (const GraphInput& i : old_.inputs())
      map_[i.value] = made_.graph.add_input(i.name, old_.type(i.value));
    for (const GraphVariable& v : old_.variables())
      map_[v.value] = made_.graph.add_variable(v.name, v.storage);
  }

  void add(NodeId id) {
    std::vector<ValueId> inputs;
    for (const ValueId v : old_.node(id).inputs) inputs.push_back(now(v));
    add(id, inputs);
  }

  Cloned finish() {
    for (const GraphOutput& o : old_.outputs()) made_.graph.add_output(o.name, now(o.value));
    for (const GraphUpdate& u : old_.updates()) made_.graph.add_update(map_[u.variable], now(u.next));
    return std::move(made_);
  }

 private:
  void add(NodeId id, std::span<const ValueId> inputs) {
    const Node& node = old_.node(id);
    const NodeId n = made_.graph.add_node(*node.op, inputs, node.attrs, node.layer);
    made_.from.push_back(id);
    for (size_t i = 0; i < node.outputs.size(); ++i) map_[node.outputs[i]] = made_.graph.node(n).outputs[i];
  }

  // The value as it was made last. Constants and other names of a value (reshape) come when they are read.
  ValueId now(ValueId v) {
    const NodeId producer = old_.value(v).producer;
    if (producer == kNone) return map_[v];
    const Node& node = old_.node(producer);
    if (node.op->alias) {
      const ValueId of = now(node.inputs[0]);
      if (source_[v] != of) {
        add(producer, std::vector<ValueId>(1, of));
        source_[v] = of;
      }
    } else if (flow_.fixed(v).kind == Place::Kind::constant && map_[v] == kNone) {
      add(producer, {});
    }
    require(map_[v] != kNone, "plan", "the list of what runs again is of another graph");
    return map_[v];
  }

  const Dataflow& flow_;
  const Graph& old_;
  Cloned made_;
  std::vector<ValueId> map_;     // by old value: the new one
  std::vector<ValueId> source_;  // by alias: the new value it is a name of
};

}  // namespace

Cloned clone_nodes(const Dataflow& flow, std::span<const Exec> execs) {
  for (const Exec& e : execs)
    require(e.run < flow.runs().size(), "plan", "the list of what runs again is of another graph");
  const std::vector<uint32_t> time = times(flow, execs);
  std::vector<uint32_t> order(execs.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return time[a] < time[b]; });
  Cloner cloner(flow);
  for (const uint32_t e : order) cloner.add(flow.runs()[execs[e].run]);
  return cloner.finish();
}

}  // namespace plimsoll

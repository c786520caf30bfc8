#include "plan/dataflow.h"

#include <algorithm>

#include "graph/capabilities.h"

namespace plimsoll {
namespace {

bool is_constant(const Node& node) { return node.op->name == "constant"; }

}  // namespace

Dataflow::Dataflow(const Graph& graph, bool reuse, bool fixed_order, const Capabilities* can)
    : graph_(graph) {
  bytes_.reserve(graph.values().size());
  for (const Value& v : graph.values()) bytes_.push_back(byte_size(v.type.dtype, v.type.shape));
  find_roots();
  find_runs();
  find_readers();
  in_place_.resize(runs_.size());
  for (Run r = 0; r < runs_.size(); ++r) in_place_[r].assign(node(r).outputs.size(), 0);
  if (!reuse) return;
  find_in_place(can);
  place_updates(fixed_order);
}

void Dataflow::find_roots() {
  roots_.resize(graph_.values().size());
  fixed_.resize(graph_.values().size());
  for (ValueId v = 0; v < roots_.size(); ++v) roots_[v] = v;
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    fixed_[graph_.inputs()[i].value] = {Place::Kind::input, static_cast<int64_t>(i)};
  }
  for (size_t i = 0; i < graph_.variables().size(); ++i) {
    fixed_[graph_.variables()[i].value] = {Place::Kind::variable, static_cast<int64_t>(i)};
  }
  for (size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (node.op->alias) roots_[node.outputs[0]] = roots_[node.inputs[0]];
    if (is_constant(node)) fixed_[node.outputs[0]] = {Place::Kind::constant, static_cast<int64_t>(n)};
  }
}

void Dataflow::find_runs() {
  std::vector<bool> needed(graph_.nodes().size(), false);
  const auto need = [&](ValueId v) {
    const NodeId producer = graph_.value(v).producer;
    if (producer != kNone) needed[producer] = true;
  };
  for (const GraphOutput& output : graph_.outputs()) need(output.value);
  for (const GraphUpdate& update : graph_.updates()) need(update.next);
  for (size_t n = graph_.nodes().size(); n-- > 0;) {
    const Node& node = graph_.nodes()[n];
    if (!node.op->pure) needed[n] = true;
    if (needed[n]) std::for_each(node.inputs.begin(), node.inputs.end(), need);
  }
  run_of_.assign(graph_.nodes().size(), kNone);
  for (size_t n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.nodes()[n];
    if (!needed[n] || node.op->alias || is_constant(node)) continue;
    run_of_[n] = static_cast<Run>(runs_.size());
    runs_.push_back(static_cast<NodeId>(n));
  }
}

void Dataflow::find_readers() {
  readers_.resize(graph_.values().size());
  read_at_end_.assign(graph_.values().size(), false);
  before_.resize(runs_.size());
  after_.resize(runs_.size());
  for (Run r = 0; r < runs_.size(); ++r) {
    for (const ValueId v : node(r).inputs) {
      std::vector<Run>& readers = readers_[root(v)];
      if (!readers.empty() && readers.back() == r) continue;  // reads it twice
      readers.push_back(r);
      const NodeId producer = graph_.value(root(v)).producer;
      if (producer == kNone || run_of_[producer] == kNone) continue;
      before_[r].push_back(run_of_[producer]);
      after_[run_of_[producer]].push_back(r);
    }
  }
  for (const GraphOutput& output : graph_.outputs()) read_at_end_[root(output.value)] = true;
  for (const GraphUpdate& update : graph_.updates()) {
    if (root(update.next) != update.variable) read_at_end_[root(update.next)] = true;
  }
}

void Dataflow::find_in_place(const Capabilities* can) {
  for (Run r = 0; r < runs_.size(); ++r) {
    const Node& n = node(r);
    if (can == nullptr && n.op->tile == nullptr && n.op->in_place == nullptr) continue;
    const NodeCall call(graph_, n);
    for (size_t k = 0; k < call.out.size(); ++k) {
      const int out = static_cast<int>(k);
      in_place_[r][k] =
          can ? can->in_place(call.call(), call.out, out) : op_in_place(call.call(), call.out, out);
    }
  }
}

void Dataflow::place_updates(bool fixed_order) {
  for (const GraphUpdate& update : graph_.updates()) {
    const ValueId next = root(update.next);
    const Place place = fixed_[update.variable];
    if (fixed_[next].kind != Place::Kind::none)
      continue;  // not made by a node, or in another variable already
    if (can_update_in_place(update.variable, next, fixed_order)) fixed_[next] = place;
  }
}

bool Dataflow::can_update_in_place(ValueId variable, ValueId next, bool fixed_order) {
  if (read_at_end_[variable]) return false;  // the old value is an output or goes to another variable
  const Run maker = run_of_[graph_.value(next).producer];
  const Node& n = node(maker);
  const size_t out =
      static_cast<size_t>(std::find(n.outputs.begin(), n.outputs.end(), next) - n.outputs.begin());
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const bool allowed = i < 64 && (in_place_[maker][out] >> i & 1) != 0;
    if (root(n.inputs[i]) == variable && !allowed) return false;
  }
  std::vector<Run> others = readers_[variable];
  std::erase(others, maker);
  if (others.empty()) return true;
  if (fixed_order) return others.back() < maker;
  if (reaches(maker, others)) return false;
  for (const Run reader : others) {
    before_[maker].push_back(reader);
    after_[reader].push_back(maker);
  }
  return true;
}

bool Dataflow::reaches(Run from, const std::vector<Run>& any_of) {
  seen_.resize(runs_.size(), 0);
  ++search_;
  std::vector<Run> open = {from};
  seen_[from] = search_;
  while (!open.empty()) {
    const Run r = open.back();
    open.pop_back();
    if (std::binary_search(any_of.begin(), any_of.end(), r)) return true;
    for (const Run next : after_[r]) {
      if (seen_[next] == search_) continue;
      seen_[next] = search_;
      open.push_back(next);
    }
  }
  return false;
}

bool Dataflow::only_updates(Run r) const {
  const std::vector<ValueId>& outputs = node(r).outputs;
  return std::all_of(outputs.begin(), outputs.end(),
                     [&](ValueId v) { return fixed_[v].kind == Place::Kind::variable; });
}

}  // namespace plimsoll

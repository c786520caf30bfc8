#include "graph/body_rows.h"

#include "graph/capabilities.h"

namespace plimsoll {
namespace {

ValueId operand(const Node& node, size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : node.outputs[i - node.inputs.size()];
}

}  // namespace

std::optional<BodyRows> BodyRows::find(const Graph& body, ValueId given, const Rows& rows) {
  BodyRows found(body);
  found.rows_[given] = rows;
  if (!found.spread()) return std::nullopt;
  return found;
}

// What operand `given` says about the node's other operands; false if that contradicts what is known.
bool BodyRows::add(NodeId n, size_t given, bool& more) {
  const Node& node = body_->node(n);
  const NodeCall call(*body_, node);
  std::optional<RowSplit> split = split_rows({call.call(), call.out, given, rows_[operand(node, given)]});
  if (!split) return false;
  for (size_t i = 0; i < node.inputs.size() + node.outputs.size(); ++i) {
    const bool in = i < node.inputs.size();
    const Rows& want = in ? split->in[i] : split->out[i - node.inputs.size()];
    Rows& has = rows_[operand(node, i)];
    if (has == want) continue;
    if (has.axis != Rows::kWhole || (in && !want.cut())) return false;
    has = want;
    more = true;
  }
  splits_[n] = std::move(split);
  return true;
}

// Forwards and backwards until nothing is new.
bool BodyRows::spread() {
  for (bool more = true; more;) {
    more = false;
    for (NodeId n = 0; n < body_->nodes().size(); ++n) {
      const Node& node = body_->node(n);
      for (size_t i = 0; i < node.inputs.size() + node.outputs.size(); ++i) {
        const Rows& rows = rows_[operand(node, i)];
        if (i < node.inputs.size() && rows.axis == Rows::kSummed) return false;  // not yet the sum
        if (rows.cut() && !splits_[n] && (!has_code(node) && !node.op->alias)) return false;  // a constant
        if (rows.cut() && !splits_[n] && !add(n, i, more)) return false;
      }
    }
  }
  for (NodeId n = 0; n < body_->nodes().size(); ++n) {
    if (!splits_[n]) continue;
    for (size_t i = 0; i < splits_[n]->in.size(); ++i) {
      if (rows_[body_->node(n).inputs[i]] != splits_[n]->in[i]) return false;
    }
  }
  return true;
}

std::shared_ptr<const Graph> BodyRows::part(int64_t first, int64_t count) const {
  auto made = std::make_shared<Graph>();
  std::vector<ValueId> map(body_->values().size(), kNone);
  for (const GraphInput& i : body_->inputs())
    map[i.value] = made->add_input(i.name, part_type(body_->type(i.value), rows_[i.value], count));
  for (NodeId n = 0; n < body_->nodes().size(); ++n) {
    const Node& node = body_->node(n);
    std::vector<ValueId> in;
    for (const ValueId v : node.inputs) in.push_back(map[v]);
    const NodeCall call(*body_, node);
    RowPart part =
        splits_[n] ? part_of(call.call(), *splits_[n], first, count) : RowPart{node.op, node.attrs};
    const NodeId id = made->add_node(*part.op, in, std::move(part.attrs), node.layer);
    for (size_t i = 0; i < node.outputs.size(); ++i) map[node.outputs[i]] = made->node(id).outputs[i];
  }
  for (const GraphOutput& o : body_->outputs()) made->add_output(o.name, map[o.value]);
  return made;
}

}  // namespace plimsoll

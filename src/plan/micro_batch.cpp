#include "plan/micro_batch.h"

#include <algorithm>
#include <map>

#include "graph/capabilities.h"
#include "plan/row_jobs.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

bool is_half(DType t) { return t == DType::f16 || t == DType::bf16; }

class Cutter {
 public:
  Cutter(const Graph& old, const RowJobs& plan, int64_t parts)
      : old_(old), plan_(plan), whole_(old.values().size(), kNone), rows_(static_cast<size_t>(parts)) {
    for (const GraphInput& i : old.inputs()) whole_[i.value] = graph_.add_input(i.name, old.type(i.value));
    for (const GraphVariable& v : old.variables()) whole_[v.value] = graph_.add_variable(v.name, v.storage);
    const int64_t least = plan.rows() / parts, more = plan.rows() % parts;
    for (int64_t r = 0, first = 0; r < parts; ++r) {
      ranges_.push_back({first, least + (r < more ? 1 : 0)});
      first += ranges_.back().count;
    }
  }

  Graph cut() {
    for (int stage = 0; stage <= plan_.stages(); ++stage) {
      for (NodeId n = 0; n < old_.nodes().size(); ++n) {
        if (plan_.boundary(n) == stage) copy(n);
      }
      for (size_t r = 0; r < ranges_.size(); ++r) {
        slices_.clear();
        for (const RowJob& job : plan_.jobs()) {
          if (job.stage == stage) run(job, r);
        }
      }
    }
    for (const GraphOutput& o : old_.outputs()) graph_.add_output(o.name, whole(o.value));
    for (const GraphUpdate& u : old_.updates()) graph_.add_update(whole_[u.variable], whole(u.next));
    return std::move(graph_);
  }

 private:
  struct Range {
    int64_t first, count;
  };
  using Key = std::tuple<ValueId, int, int64_t>;

  ValueId add(std::string_view op, std::initializer_list<ValueId> in, Attrs attrs = {}) {
    return graph_.node(graph_.add_node(get_op(op), {in.begin(), in.size()}, std::move(attrs), layer_))
        .outputs[0];
  }

  void copy(NodeId n) {
    const Node& node = old_.node(n);
    std::vector<ValueId> in;
    for (const ValueId v : node.inputs) in.push_back(whole(v));
    const NodeId made = graph_.add_node(*node.op, in, node.attrs, node.layer);
    for (size_t k = 0; k < node.outputs.size(); ++k) whole_[node.outputs[k]] = graph_.node(made).outputs[k];
  }

  ValueId whole(ValueId v) const {
    if (whole_[v] == kNone)
      fail(ErrorKind::internal, "micro-batch", "value ", v, " is read before it is made");
    return whole_[v];
  }

  // The rows of a value in range r.
  ValueId part(ValueId v, const Rows& rows, size_t r) {
    const Key key{v, rows.axis, rows.per};
    if (const auto found = rows_[r].find(key); found != rows_[r].end()) return found->second;
    const auto [slice, is_new] = slices_.try_emplace(key, kNone);
    if (!is_new) return slice->second;
    const Shape& shape = old_.type(v).shape;
    Ints starts(static_cast<size_t>(shape.rank()), 0), limits(shape.begin(), shape.end());
    const auto axis = static_cast<size_t>(rows.axis);
    starts[axis] = ranges_[r].first * rows.per;
    limits[axis] = starts[axis] + ranges_[r].count * rows.per;
    return slice->second = add("slice", {whole(v)}, {{"starts", starts}, {"limits", limits}});
  }

  // Ranges of one length have the same attributes, and with them the same kernel.
  RowPart part_of_node(const RowJob& job, const Range& range) {
    const auto key = std::pair(&job, range.count);
    if (const auto found = parts_.find(key); found != parts_.end()) return found->second;
    const NodeCall call(old_, old_.node(job.node));
    RowPart part = part_of(call.call(), job.split, range.first, range.count);
    if (part.op == &call.op) parts_.emplace(key, part);  // else it may depend on where the range begins
    return part;
  }

  void run(const RowJob& job, size_t r) {
    const Node& node = old_.node(job.node);
    layer_ = node.layer;
    std::vector<ValueId> in;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Rows& rows = job.split.in[i];
      in.push_back(rows.cut() ? part(node.inputs[i], rows, r) : whole(node.inputs[i]));
    }
    RowPart what = part_of_node(job, ranges_[r]);
    const NodeId made = graph_.add_node(*what.op, in, std::move(what.attrs), node.layer);
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId v = node.outputs[k], got = graph_.node(made).outputs[k];
      const Rows& rows = job.split.out[k];
      if (graph_.type(got) != part_type(old_.type(v), rows, ranges_[r].count))
        fail(ErrorKind::internal, node.op->name, "its rows have type ", graph_.type(got), " for a whole of ",
             old_.type(v));
      if (rows.cut()) rows_[r][{v, rows.axis, rows.per}] = got;
      if (job.own && plan_.needs_whole(v)) rows.cut() ? put(v, rows, got, r) : sum(v, got, r);
    }
  }

  // Into one accumulator, which the additions take over in place. Halves are summed in float32.
  void sum(ValueId v, ValueId part, size_t r) {
    const DType dtype = old_.type(v).dtype;
    if (is_half(dtype)) part = add("cast", {part}, {{"dtype", DType::f32}});
    whole_[v] = r == 0 ? part : add("add", {whole_[v], part});
    if (is_half(dtype) && r + 1 == ranges_.size()) whole_[v] = add("cast", {whole_[v]}, {{"dtype", dtype}});
  }

  // Into one tensor of all rows, which the next range goes into in place.
  void put(ValueId v, const Rows& rows, ValueId part, size_t r) {
    const Shape& shape = old_.type(v).shape;
    const auto axis = static_cast<size_t>(rows.axis);
    Ints zeros(static_cast<size_t>(shape.rank()), 0), at = zeros;
    if (r == 0) {
      at[axis] = shape[rows.axis] - ranges_[0].count * rows.per;
      whole_[v] = add("pad", {part}, {{"low", zeros}, {"high", at}});
      return;
    }
    at[axis] = ranges_[r].first * rows.per;
    const ValueId starts = graph_.constant(Tensor::from<int64_t>(at, Shape{shape.rank()})).id();
    whole_[v] = add("dynamic_update_slice", {whole_[v], part, starts});
  }

  const Graph& old_;
  const RowJobs& plan_;
  Graph graph_;
  std::vector<Range> ranges_;
  std::vector<ValueId> whole_;                // by old value: the new one
  std::vector<std::map<Key, ValueId>> rows_;  // by range: the rows that jobs made
  std::map<Key, ValueId> slices_;             // of whole values, in the present range of a stage
  std::map<std::pair<const RowJob*, int64_t>, RowPart> parts_;
  std::string layer_;
};

}  // namespace

// Row by row as the new graph grows: what was taken apart lets the rows through to what comes behind it.
Graph take_apart(const Graph& graph) {
  Graph made;
  std::vector<ValueId> map(graph.values().size(), kNone);
  for (const GraphInput& i : graph.inputs()) map[i.value] = made.add_input(i.name, graph.type(i.value));
  for (const GraphVariable& v : graph.variables()) map[v.value] = made.add_variable(v.name, v.storage);
  std::vector<Rows> rows = rows_of_inputs(made);
  NodeId next = 0;
  const auto spread = [&] {
    rows.resize(made.values().size());
    for (; next < made.nodes().size(); ++next) {
      const Node& node = made.node(next);
      if (const std::optional<RowSplit> split = split_of(made, node, rows)) {
        for (size_t k = 0; k < node.outputs.size(); ++k) rows[node.outputs[k]] = split->out[k];
      }
    }
  };
  for (const Node& node : graph.nodes()) {
    std::vector<Tensor> in;
    for (const ValueId v : node.inputs) in.push_back(Tensor(made, map[v]));
    made.set_layer(node.layer);
    const bool across = node.op->decompose && !node.op->rows && !node.op->tile &&
                        std::ranges::any_of(node.inputs, [&](ValueId v) { return rows[map[v]].cut(); });
    const std::vector<Tensor> out =
        across ? node.op->decompose(in, node.attrs) : made.add(*node.op, in, node.attrs);
    for (size_t k = 0; k < node.outputs.size(); ++k) map[node.outputs[k]] = out[k].id();
    spread();
  }
  for (const GraphOutput& o : graph.outputs()) made.add_output(o.name, map[o.value]);
  for (const GraphUpdate& u : graph.updates()) made.add_update(map[u.variable], map[u.next]);
  return made;
}

std::optional<Graph> cut_batch(const Graph& graph, int64_t parts) {
  const RowJobs plan(graph);
  if (parts < 2 || plan.rows() < parts || plan.jobs().empty()) return std::nullopt;
  return Cutter(graph, plan, parts).cut();
}

}  // namespace plimsoll

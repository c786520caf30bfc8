#include "plan/row_jobs.h"

#include <algorithm>

#include "graph/capabilities.h"

namespace plimsoll {
namespace {

bool is_constant(const Node& node) { return node.op->name == "constant"; }

// Cheap enough to run on rows although nothing it reads has any: a slice of the whole result would need all
// of it in memory.
bool is_cheap(const OpDef& op) { return op.tile || op.alias || op.row_part; }

}  // namespace

int64_t batch_rows(const Graph& graph) {
  std::map<int64_t, int64_t> bytes;
  for (const GraphInput& i : graph.inputs()) {
    const TensorType& t = graph.type(i.value);
    if (t.shape.rank() > 0 && t.shape[0] > 1) bytes[t.shape[0]] += byte_size(t.dtype, t.shape);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == bytes.end() ? 0 : most->first;
}

std::vector<Rows> rows_of_inputs(const Graph& graph) {
  std::vector<Rows> rows(graph.values().size());
  const int64_t count = batch_rows(graph);
  for (const GraphInput& i : graph.inputs()) {
    const Shape& shape = graph.type(i.value).shape;
    if (shape.rank() > 0 && shape[0] == count && count > 1) rows[i.value] = {0, 1};
  }
  return rows;
}

// The rows of the heaviest input that has some decide; best such that no other has to be put together for it.
std::optional<RowSplit> split_of(const Graph& graph, const Node& node, std::span<const Rows> rows) {
  const NodeCall call(graph, node);
  const auto bytes = [](const TensorType& t) { return byte_size(t.dtype, t.shape); };
  std::vector<size_t> with_rows;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (rows[node.inputs[i]].cut()) with_rows.push_back(i);
  }
  std::stable_sort(with_rows.begin(), with_rows.end(),
                   [&](size_t a, size_t b) { return bytes(call.in[a]) > bytes(call.in[b]); });
  std::optional<RowSplit> best;
  for (const size_t i : with_rows) {
    std::optional<RowSplit> split = split_rows({call.call(), call.out, i, rows[node.inputs[i]]});
    if (!split) continue;
    const bool agrees =
        std::ranges::all_of(with_rows, [&](size_t j) { return split->in[j] == rows[node.inputs[j]]; });
    if (!best || agrees) best = std::move(split);
    if (agrees) break;
  }
  if (!best) return best;
  // A sum that is larger than all it is made of is made at once, of what is put together for it.
  int64_t read = 0, summed = 0;
  for (const size_t i : with_rows) read += bytes(call.in[i]);
  for (size_t k = 0; k < call.out.size(); ++k) {
    if (best->out[k].cut()) return best;
    summed += bytes(call.out[k]);
  }
  return read <= summed ? std::nullopt : best;
}

RowJobs::RowJobs(const Graph& graph)
    : graph_(graph),
      rows_(batch_rows(graph)),
      label_(rows_of_inputs(graph)),
      split_(graph.nodes().size()),
      needs_whole_(graph.values().size(), false),
      needs_rows_(graph.values().size(), false),
      job_of_(graph.nodes().size(), kNone),
      boundary_(graph.nodes().size(), -1) {
  label();
  find_needs();
  find_earliest();
  find_latest();
  settle();
  put_off();
}

void RowJobs::label() {
  for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
    const Node& node = graph_.node(n);
    split_[n] = split_of(graph_, node, label_);
    if (!split_[n]) continue;
    for (size_t k = 0; k < node.outputs.size(); ++k) label_[node.outputs[k]] = split_[n]->out[k];
  }
}

void RowJobs::need(ValueId v, const Rows& rows) {
  if (!rows.cut()) {
    needs_whole_[v] = true;
  } else if (label_[v] == rows) {
    needs_rows_[v] = true;
  } else if (label_[v].cut() || graph_.value(v).producer == kNone || split_[graph_.value(v).producer]) {
    needs_whole_[v] = true;
  } else if (std::vector<Rows>& list = wanted_[v]; std::ranges::find(list, rows) == list.end()) {
    list.push_back(rows);
  }
}

void RowJobs::need_inputs(NodeId n, const RowSplit& split) {
  const Node& node = graph_.node(n);
  for (size_t i = 0; i < node.inputs.size(); ++i) need(node.inputs[i], split.in[i]);
}

// Rows of what has none of its own (broadcasts, random numbers): the node runs on rows as well, if it can.
void RowJobs::add_twins(NodeId n) {
  const Node& node = graph_.node(n);
  const NodeCall call(graph_, node);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const auto list = wanted_.find(node.outputs[k]);
    if (list == wanted_.end()) continue;
    for (const Rows& rows : list->second) {
      std::optional<RowSplit> split;
      if (is_cheap(*node.op) && node.outputs.size() == 1)
        split = split_rows({call.call(), call.out, node.inputs.size() + k, rows});
      if (!split) {
        needs_whole_[node.outputs[k]] = true;
        continue;
      }
      need_inputs(n, *split);
      jobs_.push_back({n, std::move(*split), false});
    }
  }
}

// From the results back: which values are needed whole, and which by rows.
void RowJobs::find_needs() {
  for (const GraphOutput& o : graph_.outputs()) needs_whole_[o.value] = true;
  for (const GraphUpdate& u : graph_.updates()) needs_whole_[u.next] = true;
  for (NodeId n = static_cast<NodeId>(graph_.nodes().size()); n-- > 0;) {
    const Node& node = graph_.node(n);
    if (!split_[n]) add_twins(n);
    const bool needed = !node.op->pure || std::ranges::any_of(node.outputs, [&](ValueId v) {
      return needs_whole_[v] || needs_rows_[v];
    });
    if (!needed) continue;
    if (split_[n]) {
      need_inputs(n, *split_[n]);
      jobs_.push_back({n, *split_[n], true});
    } else {
      for (const ValueId v : node.inputs) needs_whole_[v] = true;
      boundary_[n] = 0;
    }
  }
  std::reverse(jobs_.begin(), jobs_.end());
  for (uint32_t j = 0; j < jobs_.size(); ++j) {
    const Node& node = graph_.node(jobs_[j].node);
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (jobs_[j].split.out[k].cut()) made_by_[key(node.outputs[k], jobs_[j].split.out[k])] = j;
    }
    if (jobs_[j].own) job_of_[jobs_[j].node] = j;
  }
}

uint32_t RowJobs::maker(ValueId v, const Rows& rows) const {
  const auto found = made_by_.find(key(v, rows));
  return found == made_by_.end() ? kNone : found->second;
}

// Calls f(value, job that makes the rows it reads, or kNone: it reads the whole value or a slice of it).
template <class F>
void RowJobs::each_input(const RowJob& job, F f) const {
  const Node& node = graph_.node(job.node);
  for (size_t i = 0; i < node.inputs.size(); ++i)
    f(node.inputs[i], job.split.in[i].cut() ? maker(node.inputs[i], job.split.in[i]) : kNone);
}

// The boundary from which on all of the value is there.
int RowJobs::ready(ValueId v) const {
  const NodeId producer = graph_.value(v).producer;
  if (producer == kNone || is_constant(graph_.node(producer))) return 0;
  return job_of_[producer] != kNone ? jobs_[job_of_[producer]].stage + 1 : std::max(boundary_[producer], 0);
}

void RowJobs::find_earliest() {
  size_t next = 0;
  for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
    if (boundary_[n] >= 0) {
      for (const ValueId v : graph_.node(n).inputs) boundary_[n] = std::max(boundary_[n], ready(v));
    }
    for (; next < jobs_.size() && jobs_[next].node == n; ++next) {
      RowJob& job = jobs_[next];
      each_input(job, [&](ValueId v, uint32_t from) {
        job.stage = std::max(job.stage, from == kNone ? ready(v) : jobs_[from].stage);
      });
      stages_ = std::max(stages_, job.stage + 1);
    }
  }
}

// How late each can run without anything else becoming later.
void RowJobs::find_latest() {
  latest_boundary_.assign(graph_.nodes().size(), stages_);
  latest_stage_.assign(jobs_.size(), stages_ - 1);
  read_by_rows_.assign(jobs_.size(), false);
  const auto before = [&](ValueId v, int boundary) {
    const NodeId producer = graph_.value(v).producer;
    if (producer == kNone) return;
    if (const uint32_t j = job_of_[producer]; j != kNone)
      latest_stage_[j] = std::min(latest_stage_[j], boundary - 1);
    latest_boundary_[producer] = std::min(latest_boundary_[producer], boundary);
  };
  size_t next = jobs_.size();
  for (NodeId n = static_cast<NodeId>(graph_.nodes().size()); n-- > 0;) {
    for (; next > 0 && jobs_[next - 1].node == n; --next) {
      const size_t j = next - 1;
      each_input(jobs_[j], [&](ValueId v, uint32_t from) {
        if (from == kNone) return before(v, latest_stage_[j]);
        latest_stage_[from] = std::min(latest_stage_[from], latest_stage_[j]);
        read_by_rows_[from] = true;
      });
    }
    if (boundary_[n] < 0) continue;
    for (const ValueId v : graph_.node(n).inputs) before(v, latest_boundary_[n]);
  }
}

// Rows are made as late as their readers allow: so the forward pass of a range comes right before its
// backward pass, although a loss may wait for a sum over all ranges. Sums, and what reads them, come as early
// as they can.
void RowJobs::settle() {
  size_t next = 0;
  for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
    if (boundary_[n] > 0) {
      for (const ValueId v : graph_.node(n).inputs) boundary_[n] = std::max(boundary_[n], ready(v));
    }
    for (; next < jobs_.size() && jobs_[next].node == n; ++next) {
      RowJob& job = jobs_[next];
      if (read_by_rows_[next]) {
        job.stage = latest_stage_[next];
        continue;
      }
      each_input(job, [&](ValueId v, uint32_t from) {
        job.stage = std::max(job.stage, from == kNone ? ready(v) : jobs_[from].stage);
      });
    }
  }
}

// What depends on weights alone comes before its first reader, no sooner.
void RowJobs::put_off() {
  std::vector<int> first(graph_.nodes().size(), stages_);
  const auto before = [&](ValueId v, int boundary) {
    const NodeId producer = graph_.value(v).producer;
    if (producer != kNone) first[producer] = std::min(first[producer], boundary);
  };
  size_t next = jobs_.size();
  for (NodeId n = static_cast<NodeId>(graph_.nodes().size()); n-- > 0;) {
    for (; next > 0 && jobs_[next - 1].node == n; --next) {
      const RowJob& job = jobs_[next - 1];
      each_input(job, [&](ValueId v, uint32_t from) {
        if (from == kNone) before(v, job.stage);
      });
    }
    if (boundary_[n] == 0) boundary_[n] = first[n];
    if (boundary_[n] < 0) continue;
    for (const ValueId v : graph_.node(n).inputs) before(v, boundary_[n]);
  }
}

}  // namespace plimsoll

#include "exec/nonfinite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "device/cpu/typed.h"
#include "graph/capabilities.h"
#include "graph/op.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

DType part_type(DType dtype) {
  if (!is_complex(dtype)) return dtype;
  return size_of(dtype) == 8 ? DType::f32 : DType::f64;
}

bool can_be_bad(DType dtype) { return is_float(dtype) || is_complex(dtype); }

// "log", or the ops inside a fused one: "fused(subtract, log)".
std::string op_text(const Node& node) {
  if (node.op->name != "fused") return std::string(node.op->name);
  std::string list;
  for (const Node& inner : node.attrs.graph("body")->nodes()) {
    if (inner.op->name != "constant") list += concat(list.empty() ? "" : ", ", inner.op->name);
  }
  return concat("fused(", list, ")");
}

// Of a fused chain, op by op on what it read: the first whose results are not finite.
NonFinite inside(const Node& fused, const std::vector<Tensor>& inputs) {
  const Graph& body = *fused.attrs.graph("body");
  std::vector<Tensor> values(body.values().size());
  std::vector<std::string> names(values.size());
  std::vector<bool> bad(values.size(), false);
  for (size_t i = 0; i < inputs.size(); ++i) values[body.inputs()[i].value] = inputs[i];
  for (const Node& node : body.nodes()) {
    std::vector<Tensor> in;
    for (const ValueId v : node.inputs) in.push_back(values[v]);
    const bool constant = node.op->name == "constant";
    const std::vector<Tensor> out =
        constant ? std::vector{node.attrs.tensor("value")} : apply(*node.op, in, node.attrs);
    for (size_t i = 0; i < out.size(); ++i) {
      values[node.outputs[i]] = out[i];
      names[node.outputs[i]] = std::string(node.op->name);
      const ValueRange result = range_of(out[i].type(), read_bytes(out[i]));
      bad[node.outputs[i]] = result.first_bad >= 0;
      const bool passed_on = std::ranges::any_of(node.inputs, [&](ValueId v) { return bad[v]; });
      if (constant || passed_on || result.first_bad < 0) continue;
      NonFinite found{.layer = node.layer.empty() ? fused.layer : node.layer,
                      .op = std::string(node.op->name),
                      .result = result};
      for (const ValueId v : node.inputs) {
        found.inputs.push_back(range_of(values[v].type(), read_bytes(values[v])));
        found.inputs.back().name = names[v];
      }
      return found;
    }
  }
  return {};
}

class Search {
 public:
  Search(Steps& steps, std::span<const Tensor> inputs, std::span<const Tensor> outputs)
      : steps_(steps),
        graph_(steps.graph()),
        inputs_(inputs),
        outputs_(outputs),
        bad_(graph_.values().size(), false),
        false_(graph_.values().size(), false),
        position_(graph_.nodes().size(), 0) {
    for (size_t i = 0; i < steps.plan().order().size(); ++i) position_[steps.plan().order()[i]] = i + 1;
  }

  NonFinite find(ValueId flag) {
    if (!mark()) return {};
    std::optional<ValueId> at = behind_flag(flag);
    if (!at) at = false_flag(flag);
    if (!at) return {};
    while (const std::optional<ValueId> before = bad_input(*at)) at = before;
    const NodeId producer = graph_.value(*at).producer;
    if (const std::optional<ValueRange> given = range_of_given(*at)) return {.result = *given, .inputs = {}};
    return describe(producer, *at);
  }

 private:
  // Runs the step and notes which values are not finite. False if it cannot be run so.
  bool mark() {
    for (size_t v = 0; v < bad_.size(); ++v) {
      const std::optional<ValueRange> given = range_of_given(static_cast<ValueId>(v));
      bad_[v] = given && given->first_bad >= 0;
    }
    const bool could = steps_.replay(inputs_, outputs_, [&](size_t step, void* const* args, bool after) {
      const Node& node = graph_.node(steps_.plan().order()[step]);
      for (size_t i = 0; after && i < node.outputs.size(); ++i) {
        const TensorType& type = graph_.type(node.outputs[i]);
        const void* const result = args[node.inputs.size() + i];
        bad_[node.outputs[i]] = range_of(type, result).first_bad >= 0;
        if (type.dtype == DType::boolean && type.shape.rank() == 0)
          false_[node.outputs[i]] = *static_cast<const uint8_t*>(result) == 0;
      }
      return true;
    });
    for (const Node& node : graph_.nodes()) {
      if (node.op->alias) bad_[node.outputs[0]] = bad_[node.inputs[0]];
    }
    return could;
  }

  // Of a value that no node makes.
  std::optional<ValueRange> range_of_given(ValueId v) const {
    const auto named = [&](const Tensor& t, const std::string& name) {
      ValueRange range = range_of(t.type(), read_bytes(t));
      range.name = name;
      return range;
    };
    const NodeId producer = graph_.value(v).producer;
    if (producer != kNone) {
      const Node& node = graph_.node(producer);
      if (node.op->name != "constant") return {};
      return named(node.attrs.tensor("value"), "a constant");
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (graph_.inputs()[i].value == v) return named(inputs_[i], concat("batch ", graph_.inputs()[i].name));
    }
    for (const GraphVariable& variable : graph_.variables()) {
      if (variable.value == v) return named(variable.storage, variable.name);
    }
    return {};
  }

  // When it was made; what was given comes first.
  size_t when(ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    return producer == kNone ? 0 : position_[producer];
  }
  void keep_first(std::optional<ValueId>& first, ValueId v) const {
    if (!first || when(v) < when(*first)) first = v;
  }

  // The first value that is not finite among those the flag was made of.
  std::optional<ValueId> behind_flag(ValueId flag) const {
    std::optional<ValueId> first;
    std::vector<ValueId> todo = {flag};
    std::vector<bool> seen(bad_.size(), false);
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (seen[v]) continue;
      seen[v] = true;
      if (bad_[v]) keep_first(first, v);
      const NodeId producer = graph_.value(v).producer;
      if (producer == kNone || graph_.type(v).dtype != DType::boolean) continue;
      for (const ValueId in : graph_.node(producer).inputs) todo.push_back(in);
      for (const ValueId beside : graph_.node(producer).outputs) todo.push_back(beside);
    }
    return first;
  }

  // Where isfinite() is fused with what made its operand, that is never stored: the first flag that is false.
  std::optional<ValueId> false_flag(ValueId flag) const {
    if (!false_[flag]) return std::nullopt;
    for (ValueId at = flag;;) {
      std::optional<ValueId> before;
      for (const ValueId in : graph_.node(graph_.value(at).producer).inputs) {
        if (false_[in]) keep_first(before, in);
      }
      if (!before) return at;
      at = *before;
    }
  }

  std::optional<ValueId> bad_input(ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    std::optional<ValueId> first;
    if (producer == kNone) return first;
    for (const ValueId in : graph_.node(producer).inputs) {
      if (bad_[in]) keep_first(first, in);
    }
    return first;
  }

  NonFinite describe(NodeId id, ValueId bad) {
    const Node& node = graph_.node(id);
    const bool fused = node.op->name == "fused";
    NonFinite found{.layer = node.layer, .op = op_text(node)};
    std::vector<Tensor> read;
    steps_.replay(inputs_, outputs_, [&](size_t step, void* const* args, bool after) {
      if (steps_.plan().order()[step] != id) return true;
      for (size_t i = 0; !after && i < node.inputs.size(); ++i) {
        const TensorType& type = graph_.type(node.inputs[i]);
        found.inputs.push_back(range_of(type, args[i]));
        found.inputs.back().name = name_of(node.inputs[i]);
        if (fused) read.push_back(Tensor::from_bytes(type.dtype, type.shape, args[i]));
      }
      for (size_t i = 0; after && i < node.outputs.size(); ++i) {
        if (node.outputs[i] != bad) continue;
        found.result = range_of(graph_.type(bad), args[node.inputs.size() + i]);
      }
      return !after;
    });
    return fused ? look_inside(node, read, std::move(found)) : found;
  }

  // The op inside, where there is memory to look; names of what it read from outside stay.
  static NonFinite look_inside(const Node& fused, const std::vector<Tensor>& read, NonFinite whole) try {
    NonFinite found = inside(fused, read);
    if (found.op.empty()) return whole;
    found.op += " of " + whole.op;
    return found;
  } catch (const Error&) {
    return whole;
  }

  std::string name_of(ValueId v) const {
    if (const std::optional<ValueRange> given = range_of_given(v)) return given->name;
    return node_name(graph_.node(graph_.value(v).producer));
  }

  Steps& steps_;
  const Graph& graph_;
  std::span<const Tensor> inputs_, outputs_;
  std::vector<bool> bad_, false_;
  std::vector<size_t> position_;  // by node: 1 for the first that runs
};

}  // namespace

ValueRange range_of(const TensorType& type, const void* data) {
  ValueRange r{.type = type.str(), .count = type.shape.elements()};
  if (!can_be_bad(type.dtype)) return r;
  r.least = std::numeric_limits<double>::infinity();
  r.most = -r.least;
  const int64_t parts = is_complex(type.dtype) ? 2 : 1;
  with_float(part_type(type.dtype), "nonfinite", [&]<class S>(S) {
    for (int64_t i = 0; i < r.count * parts; ++i) {
      const double x = load(static_cast<const S*>(data)[i]);
      if (std::isfinite(x)) {
        r.least = std::min(r.least, x);
        r.most = std::max(r.most, x);
        continue;
      }
      if (r.first_bad < 0) r.first_bad = i / parts;
      ++(std::isnan(x) ? r.nans : r.infinite);
    }
  });
  if (r.least > r.most) r.least = r.most = std::numeric_limits<double>::quiet_NaN();
  return r;
}

NonFinite find_nonfinite(Steps& steps, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                         ValueId flag) {
  return Search(steps, inputs, outputs).find(flag);
}

}  // namespace plimsoll

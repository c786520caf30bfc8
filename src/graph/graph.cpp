#include "plimsoll/graph.h"

#include <algorithm>
#include <utility>

#include "graph/op.h"
#include "plimsoll/error.h"

namespace plimsoll {

ValueId Graph::new_value(const TensorType& type, NodeId producer) {
  values_.push_back({type, producer});
  return static_cast<ValueId>(values_.size() - 1);
}

void Graph::check_value(ValueId id, std::string_view place) const {
  require(id < values_.size(), place, "expected a value of this graph (0 to ", values_.size(), "), got ", id);
}

ValueId Graph::add_input(std::string name, const TensorType& type) {
  byte_size(type.dtype, type.shape);  // throws if it does not fit 63 bits
  const ValueId id = new_value(type, kNone);
  inputs_.push_back({std::move(name), id});
  return id;
}

ValueId Graph::add_variable(std::string name, const Tensor& storage) {
  for (const GraphVariable& v : variables_) {
    if (v.storage.buffer() == storage.buffer()) return v.value;
  }
  const ValueId id = new_value(storage.type(), kNone);
  variables_.push_back({std::move(name), id, storage});
  return id;
}

NodeId Graph::add_node(const OpDef& op, std::span<const ValueId> inputs, Attrs attrs, std::string layer) {
  Node node{&op, {inputs.begin(), inputs.end()}, {}, complete_attrs(op, std::move(attrs)), std::move(layer)};
  std::vector<TensorType> in;
  in.reserve(inputs.size());
  for (const ValueId id : inputs) {
    check_value(id, op.name);
    in.push_back(values_[id].type);
  }
  const std::vector<TensorType> out = infer_types(op, in, node.attrs);
  const NodeId id = static_cast<NodeId>(nodes_.size());
  node.outputs.reserve(out.size());
  for (const TensorType& type : out) byte_size(type.dtype, type.shape);
  for (const TensorType& type : out) node.outputs.push_back(new_value(type, id));
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::add_output(std::string name, ValueId value) {
  check_value(value, "graph");
  outputs_.push_back({std::move(name), value});
}

void Graph::add_update(ValueId variable, ValueId next) {
  check_value(variable, "graph");
  check_value(next, "graph");
  const auto is_it = [&](const GraphVariable& v) { return v.value == variable; };
  require(std::any_of(variables_.begin(), variables_.end(), is_it), "graph",
          "expected a variable to update, got another value");
  require(std::none_of(updates_.begin(), updates_.end(),
                       [&](const GraphUpdate& u) { return u.variable == variable; }),
          "graph", "expected one update per variable, got a second");
  require(type(variable) == type(next), "graph", "expected an update of type ", type(variable), ", got ",
          type(next));
  updates_.push_back({variable, next});
}

Tensor Graph::input(std::string name, DType dtype, const Shape& shape) {
  return Tensor(*this, add_input(std::move(name), {dtype, shape}));
}

Tensor Graph::variable(std::string name, const Tensor& storage) {
  require(storage.defined() && !storage.is_symbolic(), "graph", "expected concrete bytes for variable ",
          name);
  return Tensor(*this, add_variable(std::move(name), storage));
}

Tensor Graph::constant(const Tensor& concrete) {
  require(concrete.defined() && !concrete.is_symbolic(), "graph",
          "expected a concrete tensor for a constant");
  static const OpDef& op = get_op("constant");
  return Tensor(*this, nodes_[add_node(op, {}, {{"value", concrete}}, layer_)].outputs[0]);
}

std::vector<Tensor> Graph::add(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs) {
  const size_t nodes_before = nodes_.size();
  const size_t values_before = values_.size();
  try {
    std::vector<ValueId> ids;
    ids.reserve(inputs.size());
    for (const Tensor& t : inputs) {
      ids.push_back((t.is_symbolic() ? capture(t) : constant(t)).id());
    }
    const NodeId node = add_node(op, ids, std::move(attrs), layer_);
    std::vector<Tensor> out;
    for (const ValueId id : nodes_[node].outputs) out.push_back(Tensor(*this, id));
    return out;
  } catch (...) {  // take back the constants and captures made for a node that was refused
    nodes_.resize(nodes_before);
    values_.resize(values_before);
    while (!inputs_.empty() && inputs_.back().value >= values_before) inputs_.pop_back();
    while (!captures_.empty() && captures_.back().input >= values_before) captures_.pop_back();
    throw;
  }
}

bool Graph::is_inside(const Graph& other) const {
  for (const Graph* g = outer_; g; g = g->outer_) {
    if (g == &other) return true;
  }
  return false;
}

Tensor Graph::capture(const Tensor& value) {
  if (&value.graph() == this) return value;
  require(is_inside(value.graph()), "graph",
          "expected a value of this graph or of one around it, got one of another");
  const Tensor here = outer_->capture(value);  // a value of the graph right around this one
  for (const GraphCapture& c : captures_) {
    if (c.outer == here.id()) return Tensor(*this, c.input);
  }
  const ValueId input = add_input("", here.type());
  captures_.push_back({here.id(), input});
  return Tensor(*this, input);
}

void Graph::output(std::string name, const Tensor& value) {
  add_output(std::move(name), (value.is_symbolic() ? capture(value) : constant(value)).id());
}

void Graph::update(const Tensor& variable, const Tensor& next) {
  require(variable.is_symbolic() && &variable.graph() == this, "graph", "expected a variable of this graph");
  const Tensor value = next.is_symbolic() ? next : constant(next);
  require(&value.graph() == this, "graph", "expected an update from this graph");
  add_update(variable.id(), value.id());
}

std::string Graph::set_layer(std::string layer) { return std::exchange(layer_, std::move(layer)); }

bool Graph::is(NodeId id, std::string_view name) const { return id != kNone && nodes_[id].op->name == name; }

}  // namespace plimsoll

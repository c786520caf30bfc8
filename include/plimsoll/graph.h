// Graph: one computation, as nodes in static single assignment over values of fixed type. Nodes stand in
// an order in which they can run. A graph has inputs (given at each run), variables (bytes that outlive a
// run), outputs, and updates: pairs (variable, value it has after the run). A sub-graph (the body of a cond
// or a scan, a fused chain) is a Graph too, with inputs and outputs only. Not thread-safe while built.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/attrs.h"
#include "plimsoll/tensor.h"

#pragma GCC visibility push(default)
namespace plimsoll {

struct OpDef;
using NodeId = uint32_t;
inline constexpr uint32_t kNone = 0xFFFFFFFFu;

struct Node {
  const OpDef* op = nullptr;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attrs attrs;
  std::string layer;  // who made it, for reports: "conv2d_1", or "" outside any layer
};

struct Value {
  TensorType type;
  NodeId producer = kNone;  // kNone: an input or a variable
};

struct GraphInput {
  std::string name;
  ValueId value;
};
struct GraphVariable {
  std::string name;
  ValueId value;
  Tensor storage;
};
struct GraphOutput {
  std::string name;
  ValueId value;
};
struct GraphUpdate {
  ValueId variable;
  ValueId next;
};
struct GraphCapture {
  ValueId outer;
  ValueId input;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&&) = default;  // symbolic tensors of the old object are dead afterwards
  Graph& operator=(Graph&&) = default;

  // Building. Each throws Error{invalid_argument} naming the op, what it expected and what it got; the
  // graph is then as it was before the call.
  Tensor input(std::string name, DType dtype, const Shape& shape);
  // `storage` is concrete; programs made from this graph read it and updates write it. The same storage
  // given twice yields the same value.
  Tensor variable(std::string name, const Tensor& storage);
  Tensor constant(const Tensor& concrete);
  // `inputs` may mix symbolic values of this graph and concrete tensors, which become constants.
  std::vector<Tensor> add(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs = {});
  void output(std::string name, const Tensor& value);
  // Requires: the value has the variable's dtype and shape; one update per variable.
  void update(const Tensor& variable, const Tensor& next);

  // Makes this graph the body of something in `outer`: symbolic tensors of `outer`, or of a graph around it,
  // that nodes of this one read become further inputs, listed in captures() in the order they came.
  void set_outer(Graph* outer) { outer_ = outer; }
  bool is_inside(const Graph& other) const;
  // The input that stands for a value of the graph around this one. Asked twice, it answers the same.
  Tensor capture(const Tensor& value);
  const std::vector<GraphCapture>& captures() const { return captures_; }

  // Nodes made from now on carry this layer name. Returns the one before.
  std::string set_layer(std::string layer);

  // The level below, for passes: ids instead of tensors. Infers the types of the outputs, fills in default
  // attributes, checks.
  NodeId add_node(const OpDef& op, std::span<const ValueId> inputs, Attrs attrs, std::string layer);
  ValueId add_input(std::string name, const TensorType& type);
  ValueId add_variable(std::string name, const Tensor& storage);
  void add_output(std::string name, ValueId value);
  void add_update(ValueId variable, ValueId next);

  // Reading.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& values() const { return values_; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  const Value& value(ValueId id) const { return values_[id]; }
  const TensorType& type(ValueId id) const { return values_[id].type; }
  const std::vector<GraphInput>& inputs() const { return inputs_; }
  const std::vector<GraphVariable>& variables() const { return variables_; }
  const std::vector<GraphOutput>& outputs() const { return outputs_; }
  const std::vector<GraphUpdate>& updates() const { return updates_; }
  // The node's op is `name`; for passes that look for patterns.
  bool is(NodeId id, std::string_view name) const;

  // Checks every rule a graph must keep (order, types, arity, attributes, outputs, updates); throws
  // Error{internal} naming the node that breaks one.
  void verify() const;

  std::string text() const;  // one line per node; parse() reads it back
  std::string dot() const;   // for Graphviz
  // Throws Error{invalid_argument} with line and column. Variables come back zero-filled.
  static Graph parse(std::string_view text);

 private:
  ValueId new_value(const TensorType& type, NodeId producer);
  void check_value(ValueId id, std::string_view place) const;

  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<GraphInput> inputs_;
  std::vector<GraphVariable> variables_;
  std::vector<GraphOutput> outputs_;
  std::vector<GraphUpdate> updates_;
  std::string layer_;
  Graph* outer_ = nullptr;
  std::vector<GraphCapture> captures_;
};

}  // namespace plimsoll
#pragma GCC visibility pop

#include "device/c_graph.h"

#include <algorithm>

#include "plimsoll/contents.h"

namespace plimsoll {
namespace {

// The numbers of the C header are those of the engine, each of them.
constexpr bool is(DType t, int number) { return static_cast<int>(t) == number; }
static_assert(is(DType::boolean, PLIMSOLL_BOOL) && is(DType::u8, PLIMSOLL_U8) &&
              is(DType::u16, PLIMSOLL_U16) && is(DType::u32, PLIMSOLL_U32) && is(DType::u64, PLIMSOLL_U64) &&
              is(DType::i8, PLIMSOLL_I8) && is(DType::i16, PLIMSOLL_I16) && is(DType::i32, PLIMSOLL_I32) &&
              is(DType::i64, PLIMSOLL_I64) && is(DType::f16, PLIMSOLL_F16) &&
              is(DType::bf16, PLIMSOLL_BF16) && is(DType::f32, PLIMSOLL_F32) &&
              is(DType::f64, PLIMSOLL_F64) && is(DType::c64, PLIMSOLL_C64) &&
              is(DType::c128, PLIMSOLL_C128) && kDTypeCount == PLIMSOLL_C128 + 1);
constexpr bool is(AttrKind kind, int number) { return static_cast<int>(kind) == number; }
static_assert(is(AttrKind::boolean, PLIMSOLL_ATTR_BOOL) && is(AttrKind::integer, PLIMSOLL_ATTR_INT) &&
              is(AttrKind::real, PLIMSOLL_ATTR_REAL) && is(AttrKind::string, PLIMSOLL_ATTR_STRING) &&
              is(AttrKind::ints, PLIMSOLL_ATTR_INTS) && is(AttrKind::dtype, PLIMSOLL_ATTR_DTYPE) &&
              is(AttrKind::tensor, PLIMSOLL_ATTR_TENSOR) && is(AttrKind::graph, PLIMSOLL_ATTR_GRAPH));
static_assert(Shape::kMaxRank == 8);

plimsoll_type to_c(const TensorType& type) {
  return {static_cast<int32_t>(type.dtype), type.shape.rank(), type.shape.begin()};
}

template <class T>
std::vector<ValueId> values_of(const std::vector<T>& list) {
  std::vector<ValueId> values;
  for (const T& entry : list) values.push_back(entry.value);
  return values;
}

}  // namespace

CGraph::CGraph(const Graph& graph, std::span<const DeviceProgram::Part> parts) : parts_(parts) {
  values_.reserve(graph.values().size());
  for (const Value& v : graph.values()) values_.push_back(to_c(v.type));
  nodes_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    const NodeCall n(graph, node);
    add_node(n.call(), n.out, node.inputs, node.outputs, node.layer);
  }
  const auto list = [&](const std::vector<ValueId>& values, const int32_t*& at, int32_t& count) {
    at = ids(values);
    count = static_cast<int32_t>(values.size());
  };
  list(values_of(graph.inputs()), graph_.inputs, graph_.input_count);
  list(values_of(graph.outputs()), graph_.outputs, graph_.output_count);
  list(values_of(graph.variables()), graph_.variables, graph_.variable_count);
  graph_.update_count = static_cast<int32_t>(graph.updates().size());
  finish();
}

CGraph::CGraph(const OpCall& call, std::span<const TensorType> out) {
  std::vector<ValueId> inputs, outputs;
  for (const TensorType& t : call.in) {
    inputs.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back(to_c(t));
  }
  for (const TensorType& t : out) {
    outputs.push_back(static_cast<ValueId>(values_.size()));
    values_.push_back(to_c(t));
  }
  add_node(call, out, inputs, outputs, std::string());
  finish();
}

void CGraph::add_node(const OpCall& call, std::span<const TensorType> out, std::span<const ValueId> inputs,
                      std::span<const ValueId> outputs, const std::string& layer) {
  plimsoll_node node{};
  node.op = texts_.emplace_back(call.op.name).c_str();
  node.layer = texts_.emplace_back(layer).c_str();
  node.inputs = ids(inputs);
  node.input_count = static_cast<int32_t>(inputs.size());
  node.outputs = ids(outputs);
  node.output_count = static_cast<int32_t>(outputs.size());
  const std::span<const plimsoll_attr> attrs = attrs_of(call.op, call.attrs);
  node.attrs = attrs.data();
  node.attr_count = static_cast<int32_t>(attrs.size());
  node.alias = call.op.alias ? 1 : 0;
  if (call.op.tile != nullptr) {
    const Tile tile = call.op.tile(call.in, out[0], call.attrs);
    if (!tile.meaning.empty()) node.meaning = texts_.emplace_back(tile.meaning).c_str();
    std::ranges::copy(tile.params, node.params);
  }
  nodes_.push_back(node);
}

std::span<const plimsoll_attr> CGraph::attrs_of(const OpDef& op, const Attrs& attrs) {
  std::vector<plimsoll_attr>& list = attrs_.emplace_back();
  for (const auto& [name, value] : attrs) list.push_back(attr_of(op, name, value));
  return list;
}

plimsoll_attr CGraph::attr_of(const OpDef& op, const std::string& name, const Attr& value) {
  plimsoll_attr attr{};
  attr.name = texts_.emplace_back(name).c_str();
  attr.kind = static_cast<int32_t>(value.index());
  if (const auto* b = std::get_if<bool>(&value)) {
    attr.integer = *b;
  } else if (const auto* i = std::get_if<int64_t>(&value)) {
    attr.integer = *i;
  } else if (const auto* r = std::get_if<double>(&value)) {
    attr.real = *r;
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    attr.string = s->c_str();
  } else if (const auto* t = std::get_if<DType>(&value)) {
    attr.integer = static_cast<int64_t>(*t);
  } else if (const auto* list = std::get_if<Ints>(&value)) {
    attr.ints = list->data();
    attr.count = static_cast<int32_t>(list->size());
  } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
    attr.type = to_c(tensor->type());
    attr.data = read_bytes(*tensor);
  } else if (const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&value); graph && *graph) {
    const auto part = std::ranges::find(parts_, graph->get(), &DeviceProgram::Part::graph);
    attr.graph = bodies_.emplace_back(**graph).get();
    if (part != parts_.end() && op.name != "fused") {
      attr.program = part->program->object();
      attr.arena_bytes = part->arena_bytes;
    }
  }
  return attr;
}

const int32_t* CGraph::ids(std::span<const ValueId> values) {
  return ids_.emplace_back(values.begin(), values.end()).data();
}

void CGraph::finish() {
  graph_.size = sizeof graph_;
  graph_.node_size = sizeof(plimsoll_node);
  graph_.attr_size = sizeof(plimsoll_attr);
  graph_.values = values_.data();
  graph_.value_count = static_cast<int32_t>(values_.size());
  graph_.nodes = nodes_.data();
  graph_.node_count = static_cast<int32_t>(nodes_.size());
}

}  // namespace plimsoll

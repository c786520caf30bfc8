#include "graph/op.h"

#include <algorithm>
#include <unordered_map>

#include "graph/op_list.h"
#include "graph/text.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

struct Registry {
  std::vector<const OpDef*> ops;
  std::unordered_map<std::string_view, const OpDef*> by_name;

  Registry() {
    for (const OpFile file : op_files()) {
      for (const OpDef& op : file()) {
        ops.push_back(&op);
        if (!by_name.emplace(op.name, &op).second) {
          fail(ErrorKind::internal, op.name, "two files define this op");
        }
      }
    }
  }
};

const Registry& registry() {
  static const Registry r;
  return r;
}

const AttrDef* find_def(const OpDef& op, std::string_view name) {
  const auto it =
      std::find_if(op.attrs.begin(), op.attrs.end(), [&](const AttrDef& d) { return d.name == name; });
  return it == op.attrs.end() ? nullptr : &*it;
}

void check_attr(const OpDef& op, std::string_view name, const Attr& value) {
  const AttrDef* def = find_def(op, name);
  require(def != nullptr, op.name, "has no attribute '", name, "'");
  require(kind_of(value) == def->kind, op.name, "expected attribute '", name, "' of kind ",
          name_of(def->kind), ", got ", name_of(kind_of(value)));
}

}  // namespace

std::span<const OpDef* const> all_ops() { return registry().ops; }

const OpDef* find_op(std::string_view name) {
  const auto it = registry().by_name.find(name);
  return it == registry().by_name.end() ? nullptr : it->second;
}

const OpDef& get_op(std::string_view name) {
  const OpDef* op = find_op(name);
  if (!op) fail(ErrorKind::unsupported, name, "there is no op of this name in this build");
  return *op;
}

Attrs complete_attrs(const OpDef& op, Attrs attrs) {
  for (const auto& [name, value] : attrs) check_attr(op, name, value);
  for (const AttrDef& def : op.attrs) {
    if (attrs.find(def.name)) continue;
    if (def.fallback) {
      attrs.set(def.name, parse_attr(*def.fallback, def.kind));
    } else {
      require(def.kind == AttrKind::tensor || def.kind == AttrKind::graph, op.name, "expected an attribute '",
              def.name, "' of kind ", name_of(def.kind), ", got none");
    }
  }
  return attrs;
}

std::vector<TensorType> infer_types(const OpDef& op, std::span<const TensorType> in, const Attrs& attrs) {
  const int n = static_cast<int>(in.size());
  require(n >= op.arity.least && n <= op.arity.most, op.name, "expected ", op.arity.least,
          op.arity.least == op.arity.most ? std::string() : concat(" to ", op.arity.most), " inputs, got ",
          n);
  return op.infer({op, in, attrs});
}

Cost cost_of(const OpCall& call, std::span<const TensorType> out) {
  if (call.op.cost) return call.op.cost(call, out);
  Cost cost;
  if (call.op.alias) return cost;
  for (const TensorType& t : call.in) cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
  for (const TensorType& t : out) {
    cost.bytes += static_cast<double>(byte_size(t.dtype, t.shape));
    cost.flops += static_cast<double>(t.shape.elements());
  }
  return cost;
}

std::vector<Tensor> apply(const OpDef& op, std::span<const Tensor> in, Attrs attrs) {
  Graph* graph = nullptr;  // the innermost of those the operands belong to
  for (const Tensor& t : in) {
    require(t.defined(), op.name, "expected a tensor for every input, got an undefined one");
    if (t.is_symbolic() && (!graph || t.graph().is_inside(*graph))) graph = &t.graph();
  }
  if (graph) return graph->add(op, in, std::move(attrs));
  return apply_eager(op, in, complete_attrs(op, std::move(attrs)));
}

Tensor apply1(const OpDef& op, std::initializer_list<Tensor> in, Attrs attrs) {
  return std::move(apply(op, std::span<const Tensor>(in.begin(), in.size()), std::move(attrs)).front());
}

std::vector<Tensor> inline_graph(const Graph& body, std::span<const Tensor> inputs) {
  std::vector<Tensor> values(body.values().size());
  for (size_t i = 0; i < inputs.size(); ++i) values[body.inputs()[i].value] = inputs[i];
  for (const Node& node : body.nodes()) {
    std::vector<Tensor> in;
    for (const ValueId v : node.inputs) in.push_back(values[v]);
    const bool constant = node.inputs.empty() && node.op->name == "constant";
    const std::vector<Tensor> out =
        constant ? std::vector{node.attrs.tensor("value")} : apply(*node.op, in, node.attrs);
    for (size_t i = 0; i < out.size(); ++i) values[node.outputs[i]] = out[i];
  }
  std::vector<Tensor> outputs;
  for (const GraphOutput& o : body.outputs()) outputs.push_back(values[o.value]);
  return outputs;
}

}  // namespace plimsoll

#include "graph/text.h"

#include <charconv>

#include "graph/elements.h"
#include "graph/op.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
namespace {

void print_graph(std::string& out, const Graph& graph, int indent);

void print_tensor(std::string& out, const Tensor& t) {
  out += concat("tensor ", t.type(), " [");
  const size_t step = size_of(t.dtype());
  const char* p = static_cast<const char*>(read_bytes(t));
  for (int64_t i = 0; i < t.shape().elements(); ++i, p += step) {
    if (i) out += ", ";
    out += element_text(t.dtype(), p);
  }
  out += "]";
}

void print_attr(std::string& out, const Attr& attr, int indent) {
  if (const Tensor* t = std::get_if<Tensor>(&attr))
    print_tensor(out, *t);
  else if (const auto* g = std::get_if<std::shared_ptr<const Graph>>(&attr))
    print_graph(out, **g, indent);
  else
    out += to_text(attr);
}

void print_node(std::string& out, const Node& node, int indent) {
  for (size_t i = 0; i < node.outputs.size(); ++i) out += concat(i ? ", %" : "%", node.outputs[i]);
  out += concat(" = ", node.op->name, "(");
  for (size_t i = 0; i < node.inputs.size(); ++i) out += concat(i ? ", %" : "%", node.inputs[i]);
  out += ")";
  if (!node.attrs.empty()) {
    out += " {";
    bool first = true;
    for (const auto& [name, value] : node.attrs) {
      out += concat(first ? "" : ", ", name, " = ");
      print_attr(out, value, indent + 2);
      first = false;
    }
    out += "}";
  }
  if (!node.layer.empty()) out += " @ " + to_text(Attr(node.layer));
}

void print_graph(std::string& out, const Graph& graph, int indent) {
  const std::string margin(static_cast<size_t>(indent) + 2, ' ');
  out += "graph {\n";
  for (const GraphInput& i : graph.inputs()) {
    out += concat(margin, "%", i.value, " = input ", to_text(Attr(i.name)), " ", graph.type(i.value), "\n");
  }
  for (const GraphVariable& v : graph.variables()) {
    out +=
        concat(margin, "%", v.value, " = variable ", to_text(Attr(v.name)), " ", graph.type(v.value), "\n");
  }
  for (const Node& node : graph.nodes()) {
    out += margin;
    print_node(out, node, indent);
    out += "\n";
  }
  for (const GraphOutput& o : graph.outputs()) {
    out += concat(margin, "output ", to_text(Attr(o.name)), " %", o.value, "\n");
  }
  for (const GraphUpdate& u : graph.updates())
    out += concat(margin, "update %", u.variable, " = %", u.next, "\n");
  out += std::string(static_cast<size_t>(indent), ' ') + "}";
}

std::string dot_escape(std::string_view s) {
  std::string out;
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string Graph::text() const {
  std::string out;
  print_graph(out, *this, 0);
  return out + "\n";
}

std::string Graph::dot() const {
  std::string out = "digraph plimsoll {\n  node [shape=box, fontname=\"monospace\"];\n";
  const auto leaf = [&](ValueId v, std::string_view kind, const std::string& name) {
    out +=
        concat("  v", v, " [shape=ellipse, label=\"", kind, " ", dot_escape(name), "\\n", type(v), "\"];\n");
  };
  for (const GraphInput& i : inputs_) leaf(i.value, "input", i.name);
  for (const GraphVariable& v : variables_) leaf(v.value, "variable", v.name);
  const auto source = [&](ValueId v) {
    return value(v).producer == kNone ? concat("v", v) : concat("n", value(v).producer);
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    out += concat("  n", i, " [label=\"", n.op->name, n.layer.empty() ? "" : "\\n", dot_escape(n.layer),
                  "\"];\n");
    for (const ValueId v : n.inputs)
      out += concat("  ", source(v), " -> n", i, " [label=\"", type(v), "\"];\n");
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    out += concat("  o", i, " [shape=ellipse, label=\"output ", dot_escape(outputs_[i].name), "\"];\n  ",
                  source(outputs_[i].value), " -> o", i, ";\n");
  }
  return out + "}\n";
}

}  // namespace plimsoll

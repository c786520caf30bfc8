// Graph::parse() and parse_attr(): a recursive-descent reader of the text form. Everything it reads is
// untrusted.
#include <charconv>
#include <unordered_map>

#include "graph/elements.h"
#include "graph/op.h"
#include "graph/text.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"

namespace plimsoll {
namespace {

constexpr int kMaxDepth = 32;  // of graphs within graphs
constexpr int64_t kMaxVariableBytes =
    1LL << 32;  // parsed variables are zero-filled: a line must not ask for more

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  template <class... Parts>
  [[noreturn]] void error(const Parts&... parts) const {
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
      if (text_[i] == '\n')
        ++line, column = 1;
      else
        ++column;
    }
    fail(ErrorKind::invalid_argument, "graph text", "line ", line, ", column ", column, ": ",
         concat(parts...));
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) error("expected '", c, "', got ", got());
  }
  std::string got() const {
    return at_ < text_.size() ? concat("'", text_[at_], "'") : "the end of the text";
  }

  std::string_view word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    if (at_ == start) error("expected a name, got ", got());
    return text_.substr(start, at_ - start);
  }
  void keyword(std::string_view expected) {
    if (word() != expected) error("expected '", expected, "'");
  }
  std::string_view number_word() {
    skip_space();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-' ||
                                  text_[at_] == '+' || text_[at_] == '.' || text_[at_] == ':'))
      ++at_;
    if (at_ == start) error("expected a number, got ", got());
    return text_.substr(start, at_ - start);
  }
  int64_t integer() {
    const std::string_view w = number_word();
    int64_t value = 0;
    if (!parse_element(DType::i64, w, &value)) error("expected an integer, got ", w);
    return value;
  }
  double real() {
    const std::string_view w = number_word();
    double value = 0;
    if (!parse_element(DType::f64, w, &value)) error("expected a number, got ", w);
    return value;
  }
  std::string string() {
    expect('"');
    std::string s;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        s += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        s += text_[at_];
      }
      ++at_;
    }
    expect('"');
    return s;
  }
  DType dtype() {
    const std::string_view w = word();
    const auto t = dtype_from_name(w);
    if (!t) error("expected a dtype, got ", w);
    return *t;
  }
  Ints list(char open, char close) {
    Ints out;
    expect(open);
    while (!accept(close)) {
      out.push_back(integer());
      if (!accept(',')) {
        expect(close);
        break;
      }
    }
    return out;
  }
  TensorType type() {
    const DType t = dtype();
    return {t, Shape(list('(', ')'))};
  }
  Tensor tensor() {
    keyword("tensor");
    const TensorType t = type();
    // Each element takes at least two characters: a short text cannot ask for much memory.
    if (t.shape.elements() > static_cast<int64_t>(text_.size()))
      error("expected ", t.shape.elements(), " elements");
    Tensor out = Tensor::empty(t.dtype, t.shape);
    char* p = static_cast<char*>(out.data());
    expect('[');
    for (int64_t i = 0; i < t.shape.elements(); ++i, p += size_of(t.dtype)) {
      if (i) expect(',');
      const std::string_view w = number_word();
      if (!parse_element(t.dtype, w, p)) error("expected an element of ", t.dtype, ", got ", w);
    }
    expect(']');
    return out;
  }

  Attr attr(AttrKind kind, int depth);
  Graph graph(int depth);
  size_t position() const { return at_; }

 private:
  void statement(Graph& g, int depth);
  void assignment(Graph& g, int depth);
  ValueId value() {
    expect('%');
    const int64_t label = integer();
    const auto it = labels_.find(label);
    if (it == labels_.end()) error("value %", label, " is used before it is made");
    return it->second;
  }
  void define(int64_t label, ValueId id) {
    if (!labels_.emplace(label, id).second) error("value %", label, " is made twice");
  }

  std::string_view text_;
  size_t at_ = 0;
  std::unordered_map<int64_t, ValueId> labels_;
};

Attr Reader::attr(AttrKind kind, int depth) {
  switch (kind) {
    case AttrKind::boolean: {
      const std::string_view w = word();
      if (w != "true" && w != "false") error("expected true or false, got ", w);
      return w == "true";
    }
    case AttrKind::integer: return integer();
    case AttrKind::real: return real();
    case AttrKind::string: return string();
    case AttrKind::ints: return list('[', ']');
    case AttrKind::dtype: return dtype();
    case AttrKind::tensor: return tensor();
    case AttrKind::graph: return std::shared_ptr<const Graph>(std::make_shared<Graph>(graph(depth + 1)));
  }
  error("unknown kind of attribute");
}

void Reader::assignment(Graph& g, int depth) {
  Ints labels;
  do {
    expect('%');
    labels.push_back(integer());
  } while (accept(','));
  expect('=');
  const std::string_view name = word();
  if (name == "input" || name == "variable") {
    if (labels.size() != 1) error("expected one value, got ", labels.size());
    std::string label = string();
    const TensorType t = type();
    if (name == "input") return define(labels[0], g.add_input(std::move(label), t));
    if (byte_size(t.dtype, t.shape) > kMaxVariableBytes)
      error("a variable of ", t, " is too large to read from text");
    return define(labels[0], g.add_variable(std::move(label), Tensor::zeros(t.dtype, t.shape)));
  }
  const OpDef* op = find_op(name);
  if (!op) error("there is no op '", name, "'");
  std::vector<ValueId> inputs;
  expect('(');
  while (!accept(')')) {
    inputs.push_back(value());
    if (!accept(',')) {
      expect(')');
      break;
    }
  }
  Attrs attrs;
  if (accept('{')) {
    while (!accept('}')) {
      const std::string_view key = word();
      expect('=');
      const AttrDef* found = nullptr;
      for (const AttrDef& def : op->attrs) found = def.name == key ? &def : found;
      if (!found) error(op->name, " has no attribute '", key, "'");
      // The labels of an inner graph are its own.
      std::unordered_map<int64_t, ValueId> outer;
      if (found->kind == AttrKind::graph) outer.swap(labels_);
      attrs.set(key, attr(found->kind, depth));
      if (found->kind == AttrKind::graph) outer.swap(labels_);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
  }
  std::string layer = accept('@') ? string() : "";
  const NodeId node = g.add_node(*op, inputs, std::move(attrs), std::move(layer));
  if (g.node(node).outputs.size() != labels.size()) {
    error(op->name, " makes ", g.node(node).outputs.size(), " values, the text names ", labels.size());
  }
  for (size_t i = 0; i < labels.size(); ++i) define(labels[i], g.node(node).outputs[i]);
}

void Reader::statement(Graph& g, int depth) {
  skip_space();
  if (at_ < text_.size() && text_[at_] == '%') return assignment(g, depth);
  const std::string_view w = word();
  if (w == "output") {
    std::string name = string();
    g.add_output(std::move(name), value());
  } else if (w == "update") {
    const ValueId variable = value();
    expect('=');
    g.add_update(variable, value());
  } else {
    error("expected a value, 'output' or 'update', got ", w);
  }
}

Graph Reader::graph(int depth) {
  if (depth > kMaxDepth) error("graphs nested deeper than ", kMaxDepth);
  Graph g;
  keyword("graph");
  expect('{');
  while (!accept('}')) {
    if (at_end()) error("expected '}', got the end of the text");
    statement(g, depth);
  }
  return g;
}

}  // namespace

Attr parse_attr(std::string_view text, AttrKind kind) {
  Reader reader(text);
  Attr attr = reader.attr(kind, 0);
  if (!reader.at_end()) reader.error("expected the end, got ", reader.got());
  return attr;
}

Graph Graph::parse(std::string_view text) {
  Reader reader(text);
  Graph g = reader.graph(0);
  if (!reader.at_end()) reader.error("expected the end, got ", reader.got());
  return g;
}

}  // namespace plimsoll

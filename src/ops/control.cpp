// cond, while_loop and scan: nodes with sub-graphs. A sub-graph's inputs are the operands, then what its body
// captured from the graph around it; its arena is part of the node's scratch.
#include <algorithm>
#include <cstring>

#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

constexpr int64_t kAlign = 64;
int64_t aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
int64_t bytes_of(const TensorType& t) { return byte_size(t.dtype, t.shape); }
char* at(void* base, int64_t offset) { return static_cast<char*>(base) + offset; }
bool differentiable(const Tensor& t) { return is_float(t.dtype()); }

Tensor zeros_like(const Tensor& t) {
  const Tensor zero = scalar_like(t, 0);
  return broadcast_to(t.is_symbolic() ? t.graph().constant(zero) : zero, t.shape());
}

std::vector<TensorType> output_types(const Graph& g) {
  std::vector<TensorType> out;
  for (const GraphOutput& o : g.outputs()) out.push_back(g.type(o.value));
  return out;
}

void require_inputs(std::string_view op, const Graph& body, std::span<const TensorType> in) {
  require(body.inputs().size() == in.size(), op, "expected a body with ", in.size(), " inputs, got ",
          body.inputs().size());
  for (size_t i = 0; i < in.size(); ++i) {
    require(body.type(body.inputs()[i].value) == in[i], op, "expected body input ", i, " of type ", in[i],
            ", got ", body.type(body.inputs()[i].value));
  }
  require(body.variables().empty(), op, "expected a body without variables");
}

// The graph that the tensors belong to, if one does.
Graph* graph_of(std::span<const Tensor> tensors) {
  Graph* graph = nullptr;
  for (const Tensor& t : tensors) {
    if (t.is_symbolic() && (!graph || t.graph().is_inside(*graph))) graph = &t.graph();
  }
  return graph;
}

// A sub-graph under construction: inputs of the given types, captures from `outer`.
struct Trace {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::vector<Tensor> inputs;

  Trace(Graph* outer, std::span<const TensorType> types) {
    graph->set_outer(outer);
    for (const TensorType& t : types) inputs.push_back(graph->input("", t.dtype, t.shape));
  }
  void outputs(std::span<const Tensor> values) {
    for (const Tensor& t : values) graph->output("", t);
  }
  std::shared_ptr<const Graph> done() {
    graph->set_outer(nullptr);
    return graph;
  }
};

std::vector<TensorType> types_of(std::span<const Tensor> tensors) {
  std::vector<TensorType> out;
  for (const Tensor& t : tensors) out.push_back(t.type());
  return out;
}

void append_captures(std::vector<Tensor>& operands, const Graph& body, Graph* outer) {
  for (const GraphCapture& c : body.captures()) operands.push_back(Tensor(*outer, c.outer));
}

// Gives `body` the captures of `other` that it lacks, so that both take the same inputs. Requires: those of
// `body` are the first of `other`'s.
void capture_the_rest(Graph& body, const Graph& other, Graph* outer) {
  for (size_t i = body.captures().size(); i < other.captures().size(); ++i) {
    body.capture(Tensor(*outer, other.captures()[i].outer));
  }
}
void capture_first(Graph& body, const Graph& other, Graph* outer) {
  for (const GraphCapture& c : other.captures()) body.capture(Tensor(*outer, c.outer));
}

// ---- cond

std::vector<TensorType> infer_cond(const OpCall& call) {
  require(call.in[0] == TensorType{DType::boolean, {}}, "cond", "expected a bool scalar, got ", call.in[0]);
  const Graph& yes = *call.attrs.graph("if_true");
  const Graph& no = *call.attrs.graph("if_false");
  require_inputs("cond", yes, call.in.subspan(1));
  require_inputs("cond", no, call.in.subspan(1));
  require(output_types(yes) == output_types(no), "cond", "expected both branches to return the same types");
  return output_types(yes);
}

struct CondState {
  std::shared_ptr<const SubProgram> yes, no;
  size_t in, out;
};

void run_cond(const CondState& s, void* const* args) {
  const SubProgram& branch = *static_cast<const uint8_t*>(args[0]) ? *s.yes : *s.no;
  branch.run(args + 1, args + s.in, args[s.in + s.out]);
}

Kernel prepare_cond(const KernelQuery& q) {
  CondState s{q.compiler->compile(*q.attrs.graph("if_true")), q.compiler->compile(*q.attrs.graph("if_false")),
              q.in.size(), q.out.size()};
  const int64_t scratch = std::max({s.yes->arena_bytes(), s.no->arena_bytes(), kAlign});
  return make_kernel<CondState, run_cond>("branch", std::move(s), scratch);
}

// d(operands) of one branch, as a body over (operands..., douts...).
std::shared_ptr<const Graph> branch_gradient(const Graph& branch, const GradContext& g,
                                             const std::vector<int>& wanted, std::span<const Tensor> operands,
                                             std::span<const Tensor> douts) {
  std::vector<TensorType> types = types_of(operands);
  for (const Tensor& t : douts) types.push_back(t.type());
  Trace trace(nullptr, types);
  const std::span<const Tensor> in = std::span(trace.inputs).first(operands.size());
  const std::vector<Tensor> out = inline_graph(branch, in);
  std::vector<Tensor> ys, dys, xs;
  for (int i = 0, k = 0; i < g.outputs(); ++i) {
    if (!g.has_dout(i)) continue;
    const Tensor& dy = trace.inputs[operands.size() + static_cast<size_t>(k++)];
    if (!out[static_cast<size_t>(i)].is_symbolic()) continue;
    ys.push_back(out[static_cast<size_t>(i)]);
    dys.push_back(dy);
  }
  for (const int i : wanted) xs.push_back(in[static_cast<size_t>(i)]);
  if (ys.empty()) {
    for (const Tensor& x : xs) trace.graph->output("", zeros_like(x));
    return trace.done();
  }
  trace.outputs(gradients(ys, xs, dys));
  return trace.done();
}

void grad_cond(GradContext& g) {
  std::vector<Tensor> operands, douts;
  std::vector<int> wanted;
  for (int i = 1; i < g.inputs(); ++i) {
    operands.push_back(g.in(i));
    if (g.wants(i)) wanted.push_back(i - 1);
  }
  for (int i = 0; i < g.outputs(); ++i) {
    if (g.has_dout(i)) douts.push_back(g.dout(i));
  }
  std::vector<Tensor> in = {g.in(0)};
  in.insert(in.end(), operands.begin(), operands.end());
  in.insert(in.end(), douts.begin(), douts.end());
  const auto yes = branch_gradient(*g.attrs().graph("if_true"), g, wanted, operands, douts);
  const auto no = branch_gradient(*g.attrs().graph("if_false"), g, wanted, operands, douts);
  const std::vector<Tensor> d = apply(get_op("cond"), in, {{"if_true", yes}, {"if_false", no}});
  for (size_t k = 0; k < wanted.size(); ++k) g.set(wanted[k] + 1, d[k]);
}

// ---- while_loop

std::vector<TensorType> infer_while(const OpCall& call) {
  const Graph& test = *call.attrs.graph("test");
  const Graph& body = *call.attrs.graph("body");
  require_inputs("while_loop", test, call.in);
  require_inputs("while_loop", body, call.in);
  require(output_types(test) == std::vector{TensorType{DType::boolean, {}}}, "while_loop",
          "expected a test that returns a bool scalar");
  const std::vector<TensorType> out = output_types(body);
  require(out.size() <= call.in.size() && std::equal(out.begin(), out.end(), call.in.begin()), "while_loop",
          "expected a body that returns the types of the state");
  return out;
}

// Where a loop keeps its state: two copies that take turns, so that a round never writes what it reads.
struct Turns {
  std::vector<int64_t> offsets;  // of each value in a copy
  std::vector<int64_t> sizes;
  int64_t stride = 0;  // bytes of a copy

  explicit Turns(std::span<const TensorType> state) {
    for (const TensorType& t : state) {
      offsets.push_back(stride);
      sizes.push_back(bytes_of(t));
      stride += aligned(bytes_of(t));
    }
  }
  char* get(void* scratch, int copy, size_t i) const { return at(scratch, copy * stride + offsets[i]); }
};

constexpr size_t kMaxValues = 256;  // operands of a loop: their pointers are kept on the stack

struct WhileState {
  std::shared_ptr<const SubProgram> test, body;
  Turns turns;
  size_t in, out;
};

void run_while(const WhileState& s, void* const* args) {
  void* scratch = args[s.in + s.out];
  void* inner = at(scratch, 2 * s.turns.stride + kAlign);
  void* flag = at(scratch, 2 * s.turns.stride);
  void* in[kMaxValues];
  void* next[kMaxValues];
  std::copy(args, args + s.in, in);
  for (int turn = 0;; turn ^= 1) {
    s.test->run(in, &flag, inner);
    if (!*static_cast<const uint8_t*>(flag)) break;
    for (size_t i = 0; i < s.out; ++i) next[i] = s.turns.get(scratch, turn, i);
    s.body->run(in, next, inner);
    std::copy(next, next + s.out, in);
  }
  for (size_t i = 0; i < s.out; ++i)
    std::memmove(args[s.in + i], in[i], static_cast<size_t>(s.turns.sizes[i]));
}

Kernel prepare_while(const KernelQuery& q) {
  require(q.in.size() <= kMaxValues, "while_loop", "expected at most ", kMaxValues, " values, got ",
          q.in.size());
  WhileState s{q.compiler->compile(*q.attrs.graph("test")), q.compiler->compile(*q.attrs.graph("body")),
               Turns(q.out), q.in.size(), q.out.size()};
  const int64_t scratch =
      2 * s.turns.stride + kAlign + std::max(s.test->arena_bytes(), s.body->arena_bytes());
  return make_kernel<WhileState, run_while>("loop", std::move(s), scratch);
}

// ---- scan: inputs carry..., xs..., captured...; the body returns carry..., ys...; with "save" the carries
// before each round follow the ys, stacked: what the gradient needs.

std::vector<TensorType> infer_scan(const OpCall& call) {
  const size_t carries = static_cast<size_t>(call.attrs.integer("carries"));
  const size_t xs = static_cast<size_t>(call.attrs.integer("xs"));
  const int64_t length = call.attrs.integer("length");
  require(length >= 0 && carries + xs <= call.in.size(), "scan", "expected ", carries, " carries and ", xs,
          " xs, got ", call.in.size(), " inputs and length ", length);
  std::vector<TensorType> in(call.in.begin(), call.in.end());
  for (size_t i = carries; i < carries + xs; ++i) {
    require(in[i].shape.rank() >= 1 && in[i].shape[0] == length, "scan", "expected xs of ", length,
            " rows, got ", in[i]);
    in[i].shape = in[i].shape.without(0);
  }
  const Graph& body = *call.attrs.graph("body");
  require_inputs("scan", body, in);
  std::vector<TensorType> out = output_types(body);
  require(out.size() >= carries &&
              std::equal(in.begin(), in.begin() + static_cast<int64_t>(carries), out.begin()),
          "scan", "expected a body that returns the types of the carries first");
  for (size_t i = carries; i < out.size(); ++i) out[i].shape = out[i].shape.inserted(0, length);
  if (call.attrs.flag("save")) {
    for (size_t i = 0; i < carries; ++i) out.push_back({in[i].dtype, in[i].shape.inserted(0, length)});
  }
  return out;
}

struct ScanState {
  std::shared_ptr<const SubProgram> body;
  Turns turns;
  size_t carries, xs, in, ys, out;
  int64_t length;
  bool reverse, save;
  std::vector<int64_t> rows;  // bytes of a row of each x, then of each y
};

void run_scan(const ScanState& s, void* const* args) {
  void* scratch = args[s.in + s.out];
  void* inner = at(scratch, 2 * s.turns.stride);
  void* const* out = args + s.in;
  void* in[kMaxValues];
  void* next[kMaxValues];
  std::copy(args, args + s.in, in);
  for (int64_t round = 0; round < s.length; ++round) {
    const int64_t t = s.reverse ? s.length - 1 - round : round;
    for (size_t i = 0; i < s.xs; ++i) in[s.carries + i] = at(args[s.carries + i], t * s.rows[i]);
    for (size_t i = 0; i < s.ys; ++i) next[s.carries + i] = at(out[s.carries + i], t * s.rows[s.xs + i]);
    for (size_t i = 0; i < s.carries; ++i) {
      next[i] = s.turns.get(scratch, static_cast<int>(round & 1), i);
      if (s.save)
        std::memcpy(at(out[s.carries + s.ys + i], t * s.turns.sizes[i]), in[i],
                    static_cast<size_t>(s.turns.sizes[i]));
    }
    s.body->run(in, next, inner);
    std::copy(next, next + s.carries, in);
  }
  for (size_t i = 0; i < s.carries; ++i) std::memmove(out[i], in[i], static_cast<size_t>(s.turns.sizes[i]));
}

Kernel prepare_scan(const KernelQuery& q) {
  const size_t carries = static_cast<size_t>(q.attrs.integer("carries"));
  const Graph& body = *q.attrs.graph("body");
  require(std::max(q.in.size(), q.out.size()) <= kMaxValues, "scan", "expected at most ", kMaxValues,
          " values, got ", q.in.size());
  ScanState s{q.compiler->compile(body),
              Turns(q.in.first(carries)),
              carries,
              static_cast<size_t>(q.attrs.integer("xs")),
              q.in.size(),
              body.outputs().size() - carries,
              q.out.size(),
              q.attrs.integer("length"),
              q.attrs.flag("reverse"),
              q.attrs.flag("save"),
              {}};
  const auto row = [&](const TensorType& t) { s.rows.push_back(bytes_of({t.dtype, t.shape.without(0)})); };
  for (size_t i = 0; i < s.xs; ++i) row(q.in[carries + i]);
  for (size_t i = 0; i < s.ys; ++i) row(q.out[carries + i]);
  const int64_t scratch = 2 * s.turns.stride + s.body->arena_bytes() + kAlign;
  return make_kernel<ScanState, run_scan>("loop", std::move(s), scratch);
}

// The gradient runs the scan the other way: it carries the gradients of the carries and of the captured
// values, and in each round rebuilds the body from the saved carries.
void grad_scan(GradContext& g) {
  const int carries = static_cast<int>(g.attrs().integer("carries"));
  const int xs = static_cast<int>(g.attrs().integer("xs"));
  const Graph& body = *g.attrs().graph("body");
  const int ys = static_cast<int>(body.outputs().size()) - carries;
  require(g.attrs().flag("save"), "scan", "expected a scan that saves its carries, to differentiate it");

  std::vector<int> dcarry, dcaptured, dxs;  // inputs of the scan whose gradient is carried or stacked
  for (int i = 0; i < g.inputs(); ++i) {
    if (!differentiable(g.in(i))) continue;
    if (i < carries)
      dcarry.push_back(i);  // flows from round to round even if nobody wants it at the end
    else if (g.wants(i))
      (i < carries + xs ? dxs : dcaptured).push_back(i);
  }
  std::vector<int> dys;
  for (int i = 0; i < ys; ++i) {
    if (g.has_dout(carries + i)) dys.push_back(i);
  }
  std::vector<size_t>
      saved;  // of dcarry: those whose saved values a gradient flows into (only second derivatives do that)
  for (size_t k = 0; k < dcarry.size(); ++k) {
    if (g.has_dout(carries + ys + dcarry[k])) saved.push_back(k);
  }

  std::vector<Tensor> carry0, rows, captured;
  for (const int i : dcarry) carry0.push_back(g.has_dout(i) ? g.dout(i) : zeros_like(g.in(i)));
  for (const int i : dcaptured) carry0.push_back(zeros_like(g.in(i)));
  for (int i = 0; i < carries; ++i) rows.push_back(g.out(carries + ys + i));
  for (int i = 0; i < xs; ++i) rows.push_back(g.in(carries + i));
  for (const int i : dys) rows.push_back(g.dout(carries + i));
  for (const size_t k : saved) rows.push_back(g.dout(carries + ys + dcarry[k]));
  for (int i = carries + xs; i < g.inputs(); ++i) captured.push_back(g.in(i));

  const Body round = [&](std::span<const Tensor> in) {
    const std::span<const Tensor> d = in.first(carry0.size());
    const std::span<const Tensor> row = in.subspan(carry0.size(), rows.size());
    std::vector<Tensor> inputs(row.begin(), row.begin() + carries + xs);
    inputs.insert(inputs.end(), in.begin() + static_cast<int64_t>(carry0.size() + rows.size()), in.end());
    const std::vector<Tensor> out = inline_graph(body, inputs);
    std::vector<Tensor> y, dy, x;
    const auto add_y = [&](const Tensor& value, const Tensor& gradient) {
      if (value.is_symbolic()) y.push_back(value), dy.push_back(gradient);
    };
    for (size_t k = 0; k < dcarry.size(); ++k) add_y(out[static_cast<size_t>(dcarry[k])], d[k]);
    for (size_t k = 0; k < dys.size(); ++k) {
      add_y(out[static_cast<size_t>(carries + dys[k])], row[static_cast<size_t>(carries + xs) + k]);
    }
    for (const std::vector<int>* list : {&dcarry, &dcaptured, &dxs}) {
      for (const int i : *list) x.push_back(inputs[static_cast<size_t>(i)]);
    }
    std::vector<Tensor> dx = y.empty() ? std::vector<Tensor>() : gradients(y, x, dy);
    if (y.empty()) std::transform(x.begin(), x.end(), std::back_inserter(dx), zeros_like);
    for (size_t k = 0; k < dcaptured.size(); ++k)
      dx[dcarry.size() + k] = dx[dcarry.size() + k] + d[dcarry.size() + k];
    const std::span<const Tensor> dsaved = row.last(saved.size());
    for (size_t k = 0; k < saved.size(); ++k) dx[saved[k]] = dx[saved[k]] + dsaved[k];
    return dx;
  };
  // Captured values are given as plain operands, so that the body sees them as inputs of its own.
  std::vector<TensorType> types = types_of(carry0);
  for (const Tensor& t : rows) types.push_back({t.dtype(), t.shape().without(0)});
  for (const Tensor& t : captured) types.push_back(t.type());
  Trace trace(nullptr, types);
  trace.outputs(round(trace.inputs));
  std::vector<Tensor> in = carry0;
  in.insert(in.end(), rows.begin(), rows.end());
  in.insert(in.end(), captured.begin(), captured.end());
  const std::vector<Tensor> out = apply(get_op("scan"), in,
                                        {{"body", trace.done()},
                                         {"carries", static_cast<int64_t>(carry0.size())},
                                         {"xs", static_cast<int64_t>(rows.size())},
                                         {"length", g.attrs().integer("length")},
                                         {"reverse", !g.attrs().flag("reverse")},
                                         {"save", true}});
  size_t k = 0;
  for (const std::vector<int>* list : {&dcarry, &dcaptured, &dxs}) {
    for (const int i : *list) g.set(i, out[k++]);
  }
}

constexpr AttrDef kCondAttrs[] = {{"if_true", AttrKind::graph}, {"if_false", AttrKind::graph}};
constexpr AttrDef kWhileAttrs[] = {{"test", AttrKind::graph}, {"body", AttrKind::graph}};
constexpr AttrDef kScanAttrs[] = {{"body", AttrKind::graph},
                                  {"carries", AttrKind::integer},
                                  {"xs", AttrKind::integer},
                                  {"length", AttrKind::integer},
                                  {"reverse", AttrKind::boolean, "false"},
                                  {"save", AttrKind::boolean, "false"}};
constexpr KernelDef kCond[] = {{.name = "reference", .prepare = prepare_cond}};
constexpr KernelDef kWhile[] = {{.name = "reference", .prepare = prepare_while}};
constexpr KernelDef kScan[] = {{.name = "reference", .prepare = prepare_scan}};

}  // namespace

std::vector<Tensor> cond(const Tensor& predicate, std::span<const Tensor> operands, const Body& if_true,
                         const Body& if_false) {
  std::vector<Tensor> in = {predicate};
  in.insert(in.end(), operands.begin(), operands.end());
  Graph* outer = graph_of(in);
  const std::vector<TensorType> types = types_of(operands);
  Trace yes(outer, types), no(outer, types);
  yes.outputs(if_true(yes.inputs));
  if (outer) capture_first(*no.graph, *yes.graph, outer);
  no.outputs(if_false(no.inputs));
  if (outer) capture_the_rest(*yes.graph, *no.graph, outer);
  append_captures(in, *no.graph, outer);
  return apply(get_op("cond"), in, {{"if_true", yes.done()}, {"if_false", no.done()}});
}

std::vector<Tensor> while_loop(std::span<const Tensor> state, const Body& test, const Body& body) {
  std::vector<Tensor> in(state.begin(), state.end());
  Graph* outer = graph_of(in);
  const std::vector<TensorType> types = types_of(state);
  Trace check(outer, types), round(outer, types);
  check.outputs(test(check.inputs));
  if (outer) capture_first(*round.graph, *check.graph, outer);
  round.outputs(body(round.inputs));
  if (outer) capture_the_rest(*check.graph, *round.graph, outer);
  append_captures(in, *round.graph, outer);
  return apply(get_op("while_loop"), in, {{"test", check.done()}, {"body", round.done()}});
}

std::vector<Tensor> scan(std::span<const Tensor> carry, std::span<const Tensor> xs, int64_t length,
                         const Body& body, bool reverse) {
  std::vector<Tensor> in(carry.begin(), carry.end());
  in.insert(in.end(), xs.begin(), xs.end());
  Graph* outer = graph_of(in);
  std::vector<TensorType> types = types_of(in);
  for (size_t i = carry.size(); i < types.size(); ++i) {
    require(types[i].shape.rank() >= 1, "scan", "expected xs with a first axis to walk along, got ",
            types[i]);
    types[i].shape = types[i].shape.without(0);
  }
  Trace round(outer, types);
  const std::vector<Tensor> results = body(round.inputs);
  round.outputs(results);
  append_captures(in, *round.graph, outer);
  std::vector<Tensor> out = apply(get_op("scan"), in,
                                  {{"body", round.done()},
                                   {"carries", static_cast<int64_t>(carry.size())},
                                   {"xs", static_cast<int64_t>(xs.size())},
                                   {"length", length},
                                   {"reverse", reverse},
                                   {"save", outer != nullptr}});
  out.resize(results.size());
  return out;
}

std::span<const OpDef> ops_control() {
  static constexpr OpDef defs[] = {
      {.name = "cond",
       .arity = {1, kAnyNumber},
       .attrs = kCondAttrs,
       .infer = infer_cond,
       .grad = grad_cond,
       .kernels = kCond},
      {.name = "while_loop",
       .arity = {1, kAnyNumber},
       .attrs = kWhileAttrs,
       .infer = infer_while,
       .kernels = kWhile},
      {.name = "scan",
       .arity = {0, kAnyNumber},
       .attrs = kScanAttrs,
       .infer = infer_scan,
       .grad = grad_scan,
       .kernels = kScan},
  };
  return defs;
}

}  // namespace plimsoll

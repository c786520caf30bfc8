// scan(carry..., xs..., captured...): a sub-graph once for each row of the xs. It returns carry..., ys...;
// with "save" the carries before each round follow the ys, stacked: what the gradient needs.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "graph/grad.h"
#include "ops/sub_graph.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace sub_graph;

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
  int64_t held() const { return body->bytes(); }
};

void run_scan(const ScanState& s, void* const* args) {
  const auto [in, next] = Pointers(args[s.in + s.out], s.in);
  void* scratch = at(args[s.in + s.out], Pointers::bytes(s.in, s.out));
  void* inner = at(scratch, 2 * s.turns.stride);
  void* const* out = args + s.in;
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
  const int64_t scratch = Pointers::bytes(s.in, s.out) + 2 * s.turns.stride + s.body->arena_bytes() + kAlign;
  return make_kernel<ScanState, run_scan>("loop", std::move(s), scratch);
}

// The gradient runs the scan the other way: it carries the gradients of the carries and of the captured
// values, and in each round rebuilds the body from the saved carries.
class ScanGradient {
 public:
  explicit ScanGradient(GradContext& g);
  void set();

 private:
  // d of the scan's inputs in the order dcarry_, dcaptured_, dxs_, from (first_..., a row of rows_...,
  // captured_...).
  std::vector<Tensor> round(std::span<const Tensor> in) const;
  std::shared_ptr<const Graph> traced_round() const;

  GradContext& g_;
  const Graph& body_;
  const int carries_, xs_, ys_;
  std::vector<int> dcarry_, dcaptured_, dxs_;  // inputs of the scan whose gradient is carried or stacked
  std::vector<int> dys_;                       // ys that a gradient comes from
  // Of dcarry_, those whose saved values a gradient flows into; only second derivatives do that.
  std::vector<size_t> saved_;
  std::vector<Tensor> first_, rows_, captured_;  // what the reverse scan carries, walks along and captures
};

ScanGradient::ScanGradient(GradContext& g)
    : g_(g),
      body_(*g.attrs().graph("body")),
      carries_(static_cast<int>(g.attrs().integer("carries"))),
      xs_(static_cast<int>(g.attrs().integer("xs"))),
      ys_(static_cast<int>(body_.outputs().size()) - carries_) {
  require(g.attrs().flag("save"), "scan", "expected a scan that saves its carries, to differentiate it");
  for (int i = 0; i < g.inputs(); ++i) {
    if (!is_float(g.in(i).dtype())) continue;
    if (i < carries_)
      dcarry_.push_back(i);  // flows from round to round even if nobody wants it at the end
    else if (g.wants(i))
      (i < carries_ + xs_ ? dxs_ : dcaptured_).push_back(i);
  }
  for (int i = 0; i < ys_; ++i) {
    if (g.has_dout(carries_ + i)) dys_.push_back(i);
  }
  for (size_t k = 0; k < dcarry_.size(); ++k) {
    if (g.has_dout(carries_ + ys_ + dcarry_[k])) saved_.push_back(k);
  }
  for (const int i : dcarry_) first_.push_back(g.has_dout(i) ? g.dout(i) : zeros_like(g.in(i)));
  for (const int i : dcaptured_) first_.push_back(zeros_like(g.in(i)));
  for (int i = 0; i < carries_; ++i) rows_.push_back(g.out(carries_ + ys_ + i));
  for (int i = 0; i < xs_; ++i) rows_.push_back(g.in(carries_ + i));
  for (const int i : dys_) rows_.push_back(g.dout(carries_ + i));
  for (const size_t k : saved_) rows_.push_back(g.dout(carries_ + ys_ + dcarry_[k]));
  for (int i = carries_ + xs_; i < g.inputs(); ++i) captured_.push_back(g.in(i));
}

std::vector<Tensor> ScanGradient::round(std::span<const Tensor> in) const {
  const std::span<const Tensor> d = in.first(first_.size());
  const std::span<const Tensor> row = in.subspan(first_.size(), rows_.size());
  const size_t forward = static_cast<size_t>(carries_ + xs_);
  std::vector<Tensor> inputs(row.begin(), row.begin() + static_cast<int64_t>(forward));
  const std::span<const Tensor> captured = in.subspan(first_.size() + rows_.size());
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  const std::vector<Tensor> out = inline_graph(body_, inputs);
  std::vector<Tensor> y, dy, x;
  const auto add_y = [&](const Tensor& value, const Tensor& gradient) {
    if (value.is_symbolic()) y.push_back(value), dy.push_back(gradient);
  };
  for (size_t k = 0; k < dcarry_.size(); ++k) add_y(out[static_cast<size_t>(dcarry_[k])], d[k]);
  for (size_t k = 0; k < dys_.size(); ++k) {
    add_y(out[static_cast<size_t>(carries_ + dys_[k])], row[forward + k]);
  }
  for (const std::vector<int>* list : {&dcarry_, &dcaptured_, &dxs_}) {
    for (const int i : *list) x.push_back(inputs[static_cast<size_t>(i)]);
  }
  std::vector<Tensor> dx = y.empty() ? std::vector<Tensor>() : gradients(y, x, dy);
  if (y.empty()) std::transform(x.begin(), x.end(), std::back_inserter(dx), zeros_like);
  for (size_t k = dcarry_.size(); k < first_.size(); ++k) dx[k] = dx[k] + d[k];
  const std::span<const Tensor> dsaved = row.last(saved_.size());
  for (size_t k = 0; k < saved_.size(); ++k) dx[saved_[k]] = dx[saved_[k]] + dsaved[k];
  return dx;
}

// Captured values are given as plain operands, so that the body sees them as inputs of its own.
std::shared_ptr<const Graph> ScanGradient::traced_round() const {
  std::vector<TensorType> types = types_of(first_);
  for (const Tensor& t : rows_) types.push_back({t.dtype(), t.shape().without(0)});
  for (const Tensor& t : captured_) types.push_back(t.type());
  Trace trace(nullptr, types);
  trace.outputs(round(trace.inputs));
  return trace.done();
}

void ScanGradient::set() {
  std::vector<Tensor> in = first_;
  in.insert(in.end(), rows_.begin(), rows_.end());
  in.insert(in.end(), captured_.begin(), captured_.end());
  const std::vector<Tensor> out = apply(get_op("scan"), in,
                                        {{"body", traced_round()},
                                         {"carries", static_cast<int64_t>(first_.size())},
                                         {"xs", static_cast<int64_t>(rows_.size())},
                                         {"length", g_.attrs().integer("length")},
                                         {"reverse", !g_.attrs().flag("reverse")},
                                         {"save", true}});
  size_t k = 0;
  for (const std::vector<int>* list : {&dcarry_, &dcaptured_, &dxs_}) {
    for (const int i : *list) g_.set(i, out[k++]);
  }
}

void grad_scan(GradContext& g) { ScanGradient(g).set(); }

constexpr AttrDef kAttrs[] = {{"body", AttrKind::graph},
                              {"carries", AttrKind::integer},
                              {"xs", AttrKind::integer},
                              {"length", AttrKind::integer},
                              {"reverse", AttrKind::boolean, "false"},
                              {"save", AttrKind::boolean, "false"}};
Cost cost_scan(const OpCall& call, std::span<const TensorType>) {
  return cost_of_body(*call.attrs.graph("body"), call.attrs.integer("length"));
}

constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare_scan}};

}  // namespace

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

std::span<const OpDef> ops_scan() {
  static constexpr OpDef defs[] = {{.name = "scan",
                                    .arity = {0, kAnyNumber},
                                    .attrs = kAttrs,
                                    .infer = infer_scan,
                                    .grad = grad_scan,
                                    .kernels = kKernels,
                                    .cost = cost_scan}};
  return defs;
}

}  // namespace plimsoll

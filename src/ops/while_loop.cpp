// while_loop(state..., captured...): a sub-graph, again and again for as long as another one says so.
#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/grad.h"
#include "ops/sub_graph.h"
#include "plimsoll/autodiff.h"

namespace plimsoll {
namespace {

using namespace sub_graph;

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

struct WhileState {
  std::shared_ptr<const SubProgram> test, body;
  Turns turns;
  size_t in, out;
  int64_t held() const { return test->bytes() + body->bytes(); }
};

void run_while(const WhileState& s, void* const* args) {
  const auto [in, next] = Pointers(args[s.in + s.out], s.in);
  void* scratch = at(args[s.in + s.out], Pointers::bytes(s.in, s.out));
  void* inner = at(scratch, 2 * s.turns.stride + kAlign);
  void* flag = at(scratch, 2 * s.turns.stride);
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
  WhileState s{q.compiler->compile(*q.attrs.graph("test")), q.compiler->compile(*q.attrs.graph("body")),
               Turns(q.out), q.in.size(), q.out.size()};
  const int64_t scratch = Pointers::bytes(s.in, s.out) + 2 * s.turns.stride + kAlign +
                          std::max(s.test->arena_bytes(), s.body->arena_bytes());
  return make_kernel<WhileState, run_while>("loop", std::move(s), scratch);
}

std::vector<Tensor> joined(std::span<const Tensor> a, std::span<const Tensor> b) {
  std::vector<Tensor> out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

std::shared_ptr<const Graph> traced(std::span<const Tensor> in, const Body& fn) {
  Trace trace(nullptr, types_of(in));
  trace.outputs(fn(trace.inputs));
  return trace.done();
}

// while test(state, fixed): state = body(state, fixed), which use nothing but these.
std::vector<Tensor> loop(std::span<const Tensor> state, std::span<const Tensor> fixed, const Body& test,
                         const Body& body) {
  const std::vector<Tensor> in = joined(state, fixed);
  return apply(get_op("while_loop"), in, {{"test", traced(in, test)}, {"body", traced(in, body)}});
}

// How many rounds a loop makes is known when it has run, so that the state of each cannot be kept. The
// gradient counts them, runs the loop again keeping the state at kKept places of equal distance, and then
// goes from the last round to the first: it makes the state before each from the place kept before it. Loops
// of up to kKept rounds compute nothing but that twice; of n rounds, n / kKept / 2 for each.
class WhileGradient {
 public:
  explicit WhileGradient(GradContext& g);
  void set();

 private:
  static constexpr int64_t kKept = 32;

  Tensor count() const;
  std::vector<Tensor> kept(const Tensor& rounds, const Tensor& distance) const;
  std::vector<Tensor> advanced(const Tensor& from, const Tensor& to, std::span<const Tensor> state,
                               std::span<const Tensor> captured) const;
  std::vector<Tensor> back(std::span<const Tensor> in) const;
  std::vector<Tensor> round_gradient(std::span<const Tensor> in) const;

  GradContext& g_;
  const Graph &test_, &body_;
  std::vector<Tensor> state_, captured_;
  std::vector<int> dstate_, dcaptured_;  // inputs of the loop whose gradient is carried or added up
  std::shared_ptr<const Graph> round_;   // of a round, which must not be sought in what made its state
};

WhileGradient::WhileGradient(GradContext& g)
    : g_(g), test_(*g.attrs().graph("test")), body_(*g.attrs().graph("body")) {
  for (int i = 0; i < g.inputs(); ++i) {
    const bool carried = i < g.outputs();
    (carried ? state_ : captured_).push_back(g.in(i));
    if (!is_float(g.in(i).dtype())) continue;
    if (carried)
      dstate_.push_back(i);  // flows from round to round even if nobody wants it at the end
    else if (g.wants(i))
      dcaptured_.push_back(i);
  }
}

Tensor WhileGradient::count() const {
  const std::vector<Tensor> start =
      joined(std::array{g_.in(0).graph().constant(Tensor::zeros(DType::i32, {}))}, state_);
  const Body test = [&](std::span<const Tensor> in) { return inline_graph(test_, in.subspan(1)); };
  const Body body = [&](std::span<const Tensor> in) {
    return joined(std::array{in[0] + 1.0}, inline_graph(body_, in.subspan(1)));
  };
  return loop(start, captured_, test, body)[0];
}

// The state before round `to`, from that before round `from`.
std::vector<Tensor> WhileGradient::advanced(const Tensor& from, const Tensor& to,
                                            std::span<const Tensor> state,
                                            std::span<const Tensor> captured) const {
  const size_t n = state.size();
  const Body test = [&](std::span<const Tensor> in) { return std::vector<Tensor>{less(in[0], in[n + 1])}; };
  const Body body = [&](std::span<const Tensor> in) {
    return joined(std::array{in[0] + 1.0}, inline_graph(body_, joined(in.subspan(1, n), in.subspan(n + 2))));
  };
  const std::vector<Tensor> out =
      loop(joined(std::array{from}, state), joined(std::array{to}, captured), test, body);
  return {out.begin() + 1, out.end()};
}

// The states before rounds 0, distance, 2 * distance, ..., stacked.
std::vector<Tensor> WhileGradient::kept(const Tensor& rounds, const Tensor& distance) const {
  const size_t n = state_.size();
  const Tensor start = rounds.graph().constant(Tensor::zeros(DType::i32, {}));
  const std::vector<Tensor> in =
      joined(joined(std::array{start}, state_), joined(std::array{rounds, distance}, captured_));
  const Body piece = [&](std::span<const Tensor> x) {
    const Tensor end = minimum(x[0] + x[n + 2], x[n + 1]);
    return joined(std::array{end}, advanced(x[0], end, x.subspan(1, n), x.subspan(n + 3)));
  };
  const std::vector<Tensor> out = apply(get_op("scan"), in,
                                        {{"body", traced(in, piece)},
                                         {"carries", static_cast<int64_t>(n + 1)},
                                         {"xs", int64_t{0}},
                                         {"length", kKept},
                                         {"reverse", false},
                                         {"save", true}});
  return {out.begin() + static_cast<ptrdiff_t>(n + 2),
          out.end()};  // behind the carries: what they were, the counter first
}

// One round back: in = round, d..., distance, kept..., captured...
std::vector<Tensor> WhileGradient::back(std::span<const Tensor> in) const {
  const size_t n = state_.size(), count = dstate_.size() + dcaptured_.size();
  const Tensor before = in[0] - 1.0, distance = in[count + 1];
  const Tensor place = floor_divide(before, distance);
  std::vector<Tensor> state;
  for (const Tensor& rows : in.subspan(count + 2, n)) state.push_back(take(rows, place, 0));
  const std::span<const Tensor> captured = in.subspan(count + 2 + n);
  state = advanced(place * distance, before, state, captured);
  const std::vector<Tensor> given = joined(joined(state, captured), in.subspan(1, count));
  return joined(std::array{before}, inline_graph(*round_, given));
}

// d(state), and those of the captured values added to what they are so far: in = state..., captured..., d...
std::vector<Tensor> WhileGradient::round_gradient(std::span<const Tensor> in) const {
  const std::span<const Tensor> d = in.subspan(state_.size() + captured_.size());
  const std::vector<Tensor> out = inline_graph(body_, in.first(in.size() - d.size()));
  std::vector<Tensor> x, y, dy;
  for (size_t k = 0; k < dstate_.size(); ++k) {
    const Tensor& value = out[static_cast<size_t>(dstate_[k])];
    if (value.is_symbolic()) y.push_back(value), dy.push_back(d[k]);
  }
  for (const std::vector<int>* list : {&dstate_, &dcaptured_}) {
    for (const int i : *list) x.push_back(in[static_cast<size_t>(i)]);
  }
  std::vector<Tensor> dx;
  if (y.empty())
    for (const Tensor& t : x) dx.push_back(zeros_like(t));
  else
    dx = gradients(y, x, dy);
  for (size_t k = dstate_.size(); k < dx.size(); ++k) dx[k] = dx[k] + d[k];
  return dx;
}

void WhileGradient::set() {
  const Tensor rounds = count();
  const Tensor distance = maximum(
      floor_divide(rounds + static_cast<double>(kKept - 1), scalar_like(rounds, static_cast<double>(kKept))),
      scalar_like(rounds, 1));
  std::vector<Tensor> d = {rounds};
  for (const int i : dstate_) d.push_back(g_.has_dout(i) ? g_.dout(i) : zeros_like(g_.in(i)));
  for (const int i : dcaptured_) d.push_back(zeros_like(g_.in(i)));
  round_ = traced(joined(joined(state_, captured_), std::span(d).subspan(1)),
                  [&](std::span<const Tensor> in) { return round_gradient(in); });
  const std::vector<Tensor> fixed = joined(joined(std::array{distance}, kept(rounds, distance)), captured_);
  const Body test = [](std::span<const Tensor> in) {
    return std::vector<Tensor>{greater(in[0], scalar_like(in[0], 0))};
  };
  const std::vector<Tensor> out = loop(d, fixed, test, [&](std::span<const Tensor> in) { return back(in); });
  size_t k = 1;
  for (const std::vector<int>* list : {&dstate_, &dcaptured_}) {
    for (const int i : *list) g_.set(i, out[k++]);
  }
}

void grad_while(GradContext& g) { WhileGradient(g).set(); }

constexpr AttrDef kAttrs[] = {{"test", AttrKind::graph}, {"body", AttrKind::graph}};
// How many rounds there are is not known before: one.
Cost cost_while(const OpCall& call, std::span<const TensorType>) {
  const Cost test = cost_of_body(*call.attrs.graph("test")), body = cost_of_body(*call.attrs.graph("body"));
  return {test.flops + body.flops, test.bytes + body.bytes};
}

constexpr KernelDef kKernels[] = {{.name = "reference", .prepare = prepare_while}};

}  // namespace

std::vector<Tensor> while_loop(std::span<const Tensor> state, const Body& test, const Body& body) {
  std::vector<Tensor> in(state.begin(), state.end());
  const auto [check, round] = trace_both(types_of(state), test, body, in);
  return apply(get_op("while_loop"), in, {{"test", check}, {"body", round}});
}

std::vector<Tensor> bounded_while(std::span<const Tensor> state, int64_t most, const Body& test,
                                  const Body& body) {
  const Body stay = [](std::span<const Tensor> in) { return std::vector<Tensor>(in.begin(), in.end()); };
  const Body round = [&](std::span<const Tensor> in) { return cond(test(in)[0], in, body, stay); };
  return scan(state, {}, most, round);
}

std::span<const OpDef> ops_while_loop() {
  static constexpr OpDef defs[] = {{.name = "while_loop",
                                    .arity = {1, kAnyNumber},
                                    .attrs = kAttrs,
                                    .infer = infer_while,
                                    .grad = grad_while,
                                    .kernels = kKernels,
                                    .cost = cost_while}};
  return defs;
}

}  // namespace plimsoll

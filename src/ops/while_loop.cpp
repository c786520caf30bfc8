// while_loop(state..., captured...): a sub-graph, again and again for as long as another one says so.
#include <algorithm>
#include <cstring>

#include "ops/sub_graph.h"

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
                                    .kernels = kKernels,
                                    .cost = cost_while}};
  return defs;
}

}  // namespace plimsoll

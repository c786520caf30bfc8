#include "op_sweep/sweep_test.h"

#include "op_sweep/kernel_cases.h"

namespace plimsoll::testing {

INSTANTIATE_TEST_SUITE_P(Ops, OpSweep, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

Graph op_graph(const SweepCase& c) {
  Graph graph;
  std::vector<Tensor> in;
  for (size_t i = 0; i < c.in.size(); ++i) {
    in.push_back(graph.input(concat("in", i), c.in[i].type.dtype, c.in[i].type.shape));
  }
  const std::vector<Tensor> out = graph.add(*c.op, in, c.attrs);
  for (size_t i = 0; i < out.size(); ++i) graph.output(concat("out", i), out[i]);
  return graph;
}

std::vector<Tensor> run(const Graph& graph, const std::vector<Tensor>& inputs,
                        const CompileOptions& options) {
  return Program::compile(graph, options)(inputs);
}

TEST_P(OpSweep, HasCases) {
  if (op().name == "constant") return;  // has nothing to compute
  EXPECT_FALSE(sweep_cases(op()).empty() && kernel_cases(op()).empty())
      << "an op says in its file how it is tested; one that carries a sub-graph, in kernel_cases_bodies.cpp";
}

}  // namespace plimsoll::testing

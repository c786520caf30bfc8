// Kernels called directly, each against the op's last one, and the op against itself written in other ops.
#include "op_sweep/run_kernel.h"
#include "op_sweep/sweep_test.h"
#include "support/compare.h"

namespace plimsoll::testing {
namespace {

void expect_close(const SweepCase& c, const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(difference(got[i], want[i], tolerance_for(2 * c.op->tolerance, want[i].dtype())), "")
        << "output " << i;
  }
}

}  // namespace

TEST_P(OpSweep, KernelsAgreeWithTheReference) {
  if (op().kernels.size() < 2) return;  // nothing to compare with but the oracle: oracle_test.cpp
  for (const SweepCase& c : sweep_cases(op())) {
    if (has_graph_attr(c)) continue;
    SCOPED_TRACE(c.key);
    const std::vector<Tensor> inputs = make_inputs(c, kSeed);
    const std::vector<Tensor> want = run_kernel(op().kernels.back(), c, inputs, 1).out;
    if (want.empty()) continue;
    for (const KernelDef& def : op().kernels.first(op().kernels.size() - 1)) {
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(concat("kernel ", def.name, ", ", threads, " threads"));
        const std::vector<Tensor> got = run_kernel(def, c, inputs, threads).out;
        if (!got.empty()) expect_close(c, got, want);
      }
    }
  }
}

TEST_P(OpSweep, DecompositionAgrees) {
  if (op().decompose == nullptr) return;
  for (const SweepCase& c : sweep_cases(op())) {
    SCOPED_TRACE(c.key);
    const std::vector<Tensor> inputs = make_inputs(c, kSeed);
    Graph graph;
    std::vector<Tensor> in;
    for (const SweepInput& i : c.in)
      in.push_back(graph.input(concat("in", in.size()), i.type.dtype, i.type.shape));
    const std::vector<Tensor> out = op().decompose(in, c.attrs);
    ASSERT_EQ(out.size(), c.out.size());
    for (const Tensor& t : out) graph.output(concat("out", graph.outputs().size()), t);
    expect_close(c, run(op_graph(c), inputs), run(graph, inputs, plain_options()));
  }
}

}  // namespace plimsoll::testing

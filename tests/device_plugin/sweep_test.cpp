// Every op over the cases of the sweep on a device, against NumPy and SciPy (tests/golden).
// PLIMSOLL_DEVICE_SWEEP=all adds those of kernel_cases.h, PLIMSOLL_TEST_DEVICE names the plug-in to run on,
// if it is not the interpreter.
#include <cstdlib>

#include "device_plugin/catalogue.h"
#include "device_plugin/interpreter.h"
#include "op_sweep/golden.h"
#include "op_sweep/kernel_cases.h"
#include "plimsoll/graph.h"

namespace plimsoll::testing {
namespace {

// Shapes at which the CPU's fast kernels are chosen take a plain device long.
bool with_large_cases() { return std::getenv("PLIMSOLL_DEVICE_SWEEP") != nullptr; }

class DeviceSweep : public ::testing::TestWithParam<const OpDef*> {};
INSTANTIATE_TEST_SUITE_P(Ops, DeviceSweep, ::testing::ValuesIn(all_ops().begin(), all_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

Graph graph_of(const SweepCase& c) {
  Graph graph;
  std::vector<Tensor> in;
  for (size_t i = 0; i < c.in.size(); ++i)
    in.push_back(graph.input(concat("in", i), c.in[i].type.dtype, c.in[i].type.shape));
  for (const Tensor& out : graph.add(*c.op, in, c.attrs))
    graph.output(concat("out", graph.outputs().size()), out);
  return graph;
}

void check(const SweepCase& c, const OpGoldens& goldens, const CompileOptions& options) {
  SCOPED_TRACE(c.key);
  std::vector<Tensor> out;
  try {
    out = Program::compile(graph_of(c), options)(make_inputs(c, goldens.seed()));
  } catch (const Error& e) {
    ADD_FAILURE() << e.what();
    return;
  }
  ASSERT_EQ(out.size(), c.out.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(goldens.compare(c, i, out[i]), "") << "output " << i;
}

void check_all(const OpDef& op, const CompileOptions& options) {
  for (const SweepCase& c : sweep_cases(op)) check(c, OpGoldens::get(), options);
  for (const SweepCase& c : kernel_cases(op)) {  // bodies of loops and branches are declared there
    if (has_graph_attr(c) || with_large_cases()) check(c, OpGoldens::of_kernels(), options);
  }
}

TEST_P(DeviceSweep, ValuesMatchGoldens) {
  const OpDef& op = *GetParam();
  if (tests_the_interpreter() && left_out(op.name)) return;
  for (const char* modes : {"fuse_folds", "no_in_place,library"}) {
    SCOPED_TRACE(modes);
    check_all(op, on(open_tested_device(modes)));
    if (!tests_the_interpreter()) return;
  }
}

}  // namespace
}  // namespace plimsoll::testing

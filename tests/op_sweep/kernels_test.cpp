// Kernels called directly, each against the op's last one, and the op against itself written in other ops.
#include <cstring>

#include "device/kernel.h"
#include "op_sweep/sweep_test.h"
#include "support/compare.h"

namespace plimsoll::testing {
namespace {

std::vector<TensorType> types_of(const std::vector<Tensor>& tensors) {
  std::vector<TensorType> types;
  for (const Tensor& t : tensors) types.push_back(t.type());
  return types;
}

// The outputs of one kernel, or nothing if it does not fit. Outputs and scratch start as 0xFF: a kernel may
// not rely on what is there.
std::vector<Tensor> run_kernel(const KernelDef& def, const SweepCase& c, const std::vector<Tensor>& inputs,
                               int threads) {
  const std::vector<TensorType> in = types_of(inputs);
  const KernelQuery query{.in = in, .out = c.out, .attrs = c.attrs, .threads = threads, .compiler = nullptr};
  if (def.fits != nullptr && !def.fits(query)) return {};
  Kernel kernel;
  try {
    kernel = def.prepare(query);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::unsupported) return {};
    throw;
  }
  std::vector<Tensor> held = inputs;
  std::vector<void*> args;
  for (const TensorType& type : c.out) held.push_back(Tensor::empty(type.dtype, type.shape));
  if (kernel.scratch > 0) held.push_back(Tensor::empty(DType::u8, {kernel.scratch}));
  for (size_t i = 0; i < held.size(); ++i) {
    if (i >= inputs.size()) {
      std::memset(held[i].data(), 0xFF, static_cast<size_t>(byte_size(held[i].dtype(), held[i].shape())));
    }
    args.push_back(held[i].data());
  }
  if (kernel.scratch == 0) args.push_back(nullptr);
  kernel.run(kernel.state.get(), args.data());
  const auto first = held.begin() + static_cast<ptrdiff_t>(inputs.size());
  return {first, first + static_cast<ptrdiff_t>(c.out.size())};
}

void expect_close(const SweepCase& c, const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(difference(got[i], want[i], tolerance_for(2 * c.op->tolerance, want[i].dtype())), "")
        << "output " << i;
  }
}

}  // namespace

TEST_P(OpSweep, KernelsAgreeWithTheReference) {
  if (op().kernels.size() < 2) GTEST_SKIP() << "one kernel or none";
  for (const SweepCase& c : sweep_cases(op())) {
    if (has_graph_attr(c)) continue;
    SCOPED_TRACE(c.key);
    const std::vector<Tensor> inputs = make_inputs(c, kSeed);
    const std::vector<Tensor> want = run_kernel(op().kernels.back(), c, inputs, 1);
    if (want.empty()) continue;
    for (const KernelDef& def : op().kernels.first(op().kernels.size() - 1)) {
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(concat("kernel ", def.name, ", ", threads, " threads"));
        const std::vector<Tensor> got = run_kernel(def, c, inputs, threads);
        if (!got.empty()) expect_close(c, got, want);
      }
    }
  }
}

TEST_P(OpSweep, DecompositionAgrees) {
  if (op().decompose == nullptr) GTEST_SKIP() << "has none";
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

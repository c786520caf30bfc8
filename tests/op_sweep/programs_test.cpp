// Whole programs around one op, made in every way the compiler knows, against the plain one: nothing fused,
// every value in bytes of its own, reference kernels.
#include <cstdio>

#include "op_sweep/sweep_test.h"
#include "op_sweep/targets.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// A gradient is a chain of several ops, each with its own error.
constexpr double kChainFactor = 16;

bool wants_gradient(const SweepCase& c) { return c.differentiable && c.op->grad != nullptr; }

// The op between element-wise neighbours that can fuse with it, and the gradients of all that. `one` is an
// input, so that no pass can see that it is 1.
Graph wrapped_graph(const SweepCase& c) {
  Graph graph;
  std::vector<Tensor> in;
  std::vector<Tensor> floats;
  std::vector<Tensor> operands;
  for (const SweepInput& i : c.in) {
    in.push_back(graph.input(concat("in", in.size()), i.type.dtype, i.type.shape));
    operands.push_back(in.back());
    if (!is_float(i.type.dtype)) continue;
    floats.push_back(in.back());
    operands.back() =
        multiply(in.back(), cast(graph.input(concat("one", in.size()), DType::f32, {}), i.type.dtype));
  }
  Tensor s;
  for (const Tensor& out : graph.add(*c.op, operands, c.attrs)) {
    graph.output(concat("out", graph.outputs().size()), out);
    if (!is_float(out.dtype())) continue;
    const Tensor after = multiply(add(out, scalar_like(out, 0.5)), out);
    graph.output(concat("after", graph.outputs().size()), after);
    const Tensor part = cast(sum(after), DType::f32);
    s = s.defined() ? add(s, part) : part;
  }
  if (s.defined() && wants_gradient(c) && !floats.empty()) {
    for (const Tensor& g : gradients(s, floats)) graph.output(concat("d", graph.outputs().size()), g);
  }
  return graph;
}

std::vector<Tensor> wrapped_inputs(const SweepCase& c) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : make_inputs(c, kSeed)) {
    inputs.push_back(t);
    if (is_float(t.dtype())) inputs.push_back(Tensor::full(DType::f32, {}, 1));
  }
  return inputs;
}

void expect_equal(const SweepCase& c, const std::vector<Tensor>& got, const std::vector<Tensor>& want,
                  bool bits) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double tolerance = tolerance_for(kChainFactor * c.op->tolerance, want[i].dtype());
    EXPECT_EQ(bits ? bit_difference(got[i], want[i]) : difference(got[i], want[i], tolerance), "")
        << "output " << i;
  }
}

void check_programs(const SweepCase& c) {
  const Graph graph = wrapped_graph(c);
  const std::vector<Tensor> inputs = wrapped_inputs(c);
  const std::vector<Tensor> plain = run(graph, inputs, plain_options());
  CompileOptions options;
  options.threads = 1;
  Program program = Program::compile(graph, options);
  const bool own_kernels = program.text().find("onednn") == std::string::npos;
  const std::vector<Tensor> first = program(inputs);
  {
    SCOPED_TRACE("optimized against plain");
    expect_equal(c, first, plain, false);
  }
  {
    SCOPED_TRACE("the same program run again");
    expect_equal(c, program(inputs), first, true);
  }
  {
    SCOPED_TRACE("one buffer per value, dead bytes poisoned");
    CompileOptions apart = options;
    apart.no_reuse = true;
    apart.poison = true;
    expect_equal(c, run(graph, inputs, apart), first, true);
    CompileOptions poisoned = options;
    poisoned.poison = true;
    expect_equal(c, run(graph, inputs, poisoned), first, true);
  }
  {
    SCOPED_TRACE("two threads against one");
    CompileOptions two = options;
    two.threads = 2;
    expect_equal(c, run(graph, inputs, two), first, own_kernels);
  }
  {
    SCOPED_TRACE("without the passes");
    CompileOptions unfused = options;
    unfused.skip_passes = {"all"};
    expect_equal(c, run(graph, inputs, unfused), first, false);
  }
}

}  // namespace

TEST_P(OpSweep, ProgramsMatchThePlainOne) {
  for (const SweepCase& c : sweep_cases(op())) {
    SCOPED_TRACE(c.key);
    ASSERT_NO_THROW(check_programs(c));
  }
}

TEST_P(OpSweep, HighwayTargetsAgree) {
  const RestoreTargets restore;
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  for (const SweepCase& c : sweep_cases(op())) {
    if (c.derived) continue;
    SCOPED_TRACE(c.key);
    const std::vector<Tensor> inputs = make_inputs(c, kSeed);
    choose_targets(0);
    const std::vector<Tensor> best = run(op_graph(c), inputs);
    for (const int64_t target : targets) {
      SCOPED_TRACE(hwy::TargetName(target));
      choose_targets(target);
      expect_equal(c, run(op_graph(c), inputs), best, false);
    }
  }
}

TEST(HighwayTargets, ThisProcessorsAreSaid) {
  const struct {
    int64_t bit;
    const char* name;
  } known[] = {{HWY_SSSE3, "SSSE3"},
               {HWY_SSE4, "SSE4"},
               {HWY_AVX2, "AVX2"},
               {HWY_AVX3, "AVX-512"},
               {HWY_NEON, "NEON"}};
  std::string has;
  std::string lacks;
  for (const auto& target : known) {
    (hwy::SupportedTargets() & HWY_TARGETS & target.bit ? has : lacks) += concat(" ", target.name);
  }
  std::printf("[ TARGETS  ] tested here:%s. NOT TESTED, not on this processor or not built:%s\n", has.c_str(),
              lacks.c_str());
  EXPECT_FALSE(hwy::SupportedAndGeneratedTargets().empty());
}

}  // namespace plimsoll::testing

// First and second derivatives in f64 against central differences along random directions. The function is
// s(x) = sum of all outputs, each weighed by a random cotangent; for the second derivatives it is the sum of
// the gradients of s, weighed in the same way.
#include <cmath>

#include "op_sweep/sweep_test.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/ops.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// A step of 1e-6 has an error of about 1e-10 from rounding and 1e-12 from curvature; the rest is for
// curvature near the edge of a domain (log near 0, arcsin near 1).
constexpr double kStep = 1e-6;
constexpr double kGradientTolerance = 2e-6;
// Where all gradients are about 0, the differences are rounding errors of s.
constexpr double kLeastScale = 1e-2;

bool differentiable_input(const SweepInput& in) { return in.type.dtype == DType::f64; }

// s, and its gradients with respect to the float inputs.
struct GradientGraph {
  Graph value;
  Graph with_gradients;
};

Tensor weighed_sum(std::span<const Tensor> list, uint64_t seed) {
  Tensor s;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].dtype() != DType::f64) continue;
    const Tensor cotangent = fill(DType::f64, list[i].shape(), -1, 1, hash_at(seed, i));
    const Tensor part = sum(multiply(list[i], cotangent));
    s = s.defined() ? add(s, part) : part;
  }
  return s;
}

// s in `graph`, undefined if no output is a float; `floats` receives the inputs to differentiate by.
Tensor differentiated(Graph& graph, const SweepCase& c, int order, std::vector<Tensor>& floats) {
  std::vector<Tensor> in;
  for (const SweepInput& i : c.in) {
    in.push_back(graph.input(concat("in", in.size()), i.type.dtype, i.type.shape));
    if (differentiable_input(i)) floats.push_back(in.back());
  }
  Tensor s = weighed_sum(graph.add(*c.op, in, c.attrs), 99);
  for (int k = 1; k < order && s.defined(); ++k) s = weighed_sum(gradients(s, floats), 98);
  return s;
}

GradientGraph gradient_graphs(const SweepCase& c, int order) {
  GradientGraph graphs;
  std::vector<Tensor> floats;
  const Tensor value = differentiated(graphs.value, c, order, floats);
  if (!value.defined()) return graphs;
  graphs.value.output("s", value);
  floats.clear();
  const Tensor s = differentiated(graphs.with_gradients, c, order, floats);
  for (const Tensor& g : gradients(s, floats)) {
    graphs.with_gradients.output(concat("d", graphs.with_gradients.outputs().size()), g);
  }
  return graphs;
}

// (s(x + h d) - s(x - h d)) / 2h, moving input `i` only.
double central_difference(Program& value, const std::vector<Tensor>& inputs, size_t i,
                          const Tensor& direction) {
  double s[2] = {};
  for (const int side : {0, 1}) {
    std::vector<Tensor> moved = inputs;
    moved[i] = inputs[i].copy();
    const double h = side == 0 ? -kStep : kStep;
    for (int64_t k = 0; k < parts(direction); ++k) {
      set_element(moved[i], k, element(inputs[i], k) + h * element(direction, k));
    }
    s[side] = value(moved)[0].item();
  }
  return (s[1] - s[0]) / (2 * kStep);
}

// All elements at once, then a few alone: one element shows what a sum over many may hide.
std::vector<Tensor> directions(const Shape& shape) {
  std::vector<Tensor> all = {fill(DType::f64, shape, -1, 1, 5), fill(DType::f64, shape, -1, 1, 6)};
  for (uint64_t k = 0; k < 3 && shape.elements() > 1; ++k) {
    Tensor one = Tensor::zeros(DType::f64, shape);
    set_element(one, static_cast<int64_t>(hash_at(7, k) % static_cast<uint64_t>(shape.elements())), 1);
    all.push_back(one);
  }
  return all;
}

void check_gradients(const SweepCase& c, int order) {
  const GradientGraph graphs = gradient_graphs(c, order);
  if (graphs.value.outputs().empty()) return;
  Program value = Program::compile(graphs.value);
  const std::vector<Tensor> inputs = make_inputs(c, kSeed);
  const std::vector<Tensor> grads = run(graphs.with_gradients, inputs);
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!differentiable_input(c.in[i])) continue;
    const Tensor& grad = grads[next++];
    ASSERT_EQ(grad.type().str(), inputs[i].type().str());
    if (inputs[i].shape().elements() == 0) continue;
    for (const Tensor& direction : directions(inputs[i].shape())) {
      double got = 0;
      double scale = kLeastScale;
      for (int64_t k = 0; k < parts(grad); ++k) {
        got += element(grad, k) * element(direction, k);
        scale += std::fabs(element(grad, k));
      }
      const double want = central_difference(value, inputs, i, direction);
      EXPECT_NEAR(got, want, kGradientTolerance * std::max(scale, std::fabs(want))) << "input " << i;
    }
  }
}

// Every case once, whatever the dtypes of the sweep.
void check_cases(const OpDef& op, int order) {
  for (const SweepCase& c : sweep_cases(op)) {
    const bool once = c.in.empty() || c.derived || c.in[0].type.dtype == DType::f64 || !c.in[0].swept;
    if (!c.differentiable || !once) continue;
    SCOPED_TRACE(c.key);
    ASSERT_NO_THROW(check_gradients(with_dtype(c, DType::f64), order));
  }
}

bool has_gradient_in_f64(const OpDef& op) {
  return op.grad != nullptr && std::find(op.dtypes.begin(), op.dtypes.end(), DType::f64) != op.dtypes.end();
}

}  // namespace

TEST_P(OpSweep, GradientsMatchFiniteDifferences) {
  if (!has_gradient_in_f64(op())) return;  // passes no gradient on, or has no float64
  check_cases(op(), 1);
}

TEST_P(OpSweep, SecondDerivativesMatchFiniteDifferences) {
  if (!has_gradient_in_f64(op())) return;  // passes no gradient on, or has no float64
  check_cases(op(), 2);
}

}  // namespace plimsoll::testing

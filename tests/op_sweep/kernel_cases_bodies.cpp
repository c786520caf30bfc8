// Ops that carry a sub-graph: what they compute is their body, which the oracle interprets too.
#include "op_sweep/kernel_cases.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing {
namespace {

using Values = std::vector<Tensor>;

// The sub-graph over inputs of these shapes, all f32.
template <class F>
std::shared_ptr<const Graph> body_of(const std::vector<Shape>& shapes, const F& make) {
  auto graph = std::make_shared<Graph>();
  Values in;
  for (const Shape& shape : shapes) in.push_back(graph->input(concat("in", in.size()), DType::f32, shape));
  for (const Tensor& t : make(in)) graph->output(concat("out", graph->outputs().size()), t);
  return graph;
}

void add_fused(KernelCases& cases) {
  const Shape x{300, 251}, row{251}, column{300, 1};
  cases.add({{x}, {x}}, {{"body", body_of({x, x}, [](const Values& in) {
                            const Tensor t = tanh(in[0] * 2.0 + in[1]);
                            return Values{t, relu(t - 0.25) * in[1]};
                          })}});
  // Rows and columns that broadcast, and folds of what was made.
  cases.add({{x}, {row}, {column}}, {{"body", body_of({x, row, column}, [](const Values& in) {
                                        const Tensor t = exp(in[0] * 0.5) * in[1] + in[2];
                                        return Values{sum(t, {1}), max(t, {0}), sum(t * t)};
                                      })}});
  cases.add({{Shape{9000, 7}}}, {{"body", body_of({{9000, 7}}, [](const Values& in) {
                                    return Values{sum(square(in[0]), {0}), min(in[0], {1})};
                                  })}});
  // Its other answer is in device/cpu/finite_kernels_test.cpp.
  cases.add({{x}}, {{"body", body_of({x}, [](const Values& in) { return Values{all(isfinite(in[0]))}; })}});
}

}  // namespace

void add_bodies(KernelCases& cases) {
  const Shape x{30, 41}, one{};
  if (cases.is("fused")) add_fused(cases);
  if (cases.is("cond")) {
    const auto yes = body_of({x, one}, [](const Values& in) { return Values{tanh(in[0]) * in[1]}; });
    const auto no = body_of({x, one}, [](const Values& in) { return Values{in[0] + in[1]}; });
    for (const double range : {1.0, 2.0, 3.0, 4.0}) {  // the flag is a coin of the case: take several
      cases.add({{one, 0, 1, DType::boolean}, {x, 0, range}, {one}}, {{"if_true", yes}, {"if_false", no}});
    }
  }
  if (cases.is("while_loop")) {
    const auto test =
        body_of({x, one}, [](const Values& in) { return Values{less(in[1], scalar_like(in[1], 5))}; });
    const auto body = body_of({x, one}, [](const Values& in) {
      return Values{sin(in[0] + in[1]), in[1] + 1.0};
    });
    cases.add({{x}, {one, 0.1, 0.4, std::nullopt}}, {{"test", test}, {"body", body}});
  }
  if (cases.is("remat")) {
    const auto body = body_of({x, one}, [](const Values& in) { return Values{tanh(in[0]) * in[1], in[0]}; });
    cases.add({{x}, {one}}, {{"body", body}, {"operands", int64_t{1}}});
  }
  if (cases.is("custom_vjp")) {
    const auto body = body_of({x, one}, [](const Values& in) { return Values{in[0] * in[1]}; });
    cases.add({{x}, {x}, {one}}, {{"backward", body}, {"ys", int64_t{1}}, {"xs", int64_t{1}}});
  }
  if (cases.is("scan")) {
    const Shape carry{41}, rows{30, 41};
    const auto body = body_of({carry, carry, one}, [](const Values& in) {
      const Tensor next = tanh(in[0] * in[2] + in[1]);
      return Values{next, next * in[1]};
    });
    for (const bool reverse : {false, true}) {
      cases.add({{carry}, {rows}, {one}}, {{"body", body},
                                           {"carries", int64_t{1}},
                                           {"xs", int64_t{1}},
                                           {"length", int64_t{30}},
                                           {"reverse", reverse},
                                           {"save", reverse}});
    }
  }
}

}  // namespace plimsoll::testing

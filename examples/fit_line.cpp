#include <cstdio>
#include <vector>

#include "plimsoll/autodiff.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

using namespace plimsoll;

int main() {
  // One step of gradient descent on (w x + b - y)^2, as a graph.
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {4});
  const Tensor y = graph.input("y", DType::f32, {4});
  const Tensor w = graph.variable("w", Tensor::zeros(DType::f32, {}));
  const Tensor b = graph.variable("b", Tensor::zeros(DType::f32, {}));
  const Tensor loss = mean(square(w * x + b - y));
  const std::vector<Tensor> grads = gradients(loss, std::vector<Tensor>{w, b});
  graph.output("loss", loss);
  graph.update(w, w - 0.1 * grads[0]);
  graph.update(b, b - 0.1 * grads[1]);

  // Rewritten, planned and made ready once; then every call computes, and allocates nothing.
  Program step = Program::compile(graph);
  std::printf("a step needs %lld bytes\n", static_cast<long long>(step.memory().arena));

  const std::vector<float> xs = {0, 1, 2, 3}, ys = {1, 4, 7, 10};  // y = 3 x + 1
  const std::vector<Tensor> batch = {Tensor::from<float>(xs, {4}), Tensor::from<float>(ys, {4})};
  std::vector<Tensor> outputs = {Tensor::empty(DType::f32, {})};
  for (int i = 0; i < 500; ++i) step.run(batch, outputs);
  const double slope = graph.variables()[0].storage.item();
  const double start = graph.variables()[1].storage.item();
  std::printf("y = %.3f x + %.3f, loss %.1e\n", slope, start, outputs[0].item());
  return slope > 2.99 && slope < 3.01 && start > 0.98 && start < 1.02 ? 0 : 1;
}

// Own loop around a model: value_and_grad over the model's weights, an optimizer applied by hand.
#include <iostream>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
#include "plimsoll/value_and_grad.h"
using namespace plimsoll;
int main() {
  Tensor x = Tensor::of({{1, 2}, {3, 4}, {5, 6}, {7, 8}}) / 8.0, y = sum(x, {1}, true);
  Tensor w = Tensor::zeros(DType::f32, {2, 1}), b = Tensor::zeros(DType::f32, {1});
  auto step = value_and_grad([&](std::span<const Tensor> p) { return mean(square(matmul(x, p[0]) + p[1] - y)); });
  double first = -1, last = 0;
  for (int k = 0; k < 200; ++k) {
    auto [loss, grads] = step({w, b});
    w = w - 0.3 * grads[0];
    b = b - 0.3 * grads[1];
    last = loss.item();
    if (first < 0) first = last;
  }
  std::cout << first << " " << last << "\n";
  return last < first / 20 ? 0 : 1;
}

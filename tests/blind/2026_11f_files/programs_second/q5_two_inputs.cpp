// Two inputs, one target, weights, evaluate and predict with lists.
#include <iostream>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  Symbol a = Input({3}, {.name = "a"}), b = Input({2}, {.name = "b"});
  Model m({a, b}, Dense(1, {.name = "y"})(Concatenate()({a, b})));
  m.compile({.optimizer = "sgd", .loss = "mse", .metrics = {"mae"}});
  Tensor x1 = Tensor::zeros(DType::f32, {10, 3}), x2 = Tensor::full(DType::f32, {10, 2}, 1), y = Tensor::full(DType::f32, {10, 1}, 1);
  m.fit({x1, x2}, y, {.epochs = 3, .verbose = 0, .sample_weight = {Tensor::full(DType::f32, {10}, 2)}});
  Logs logs = m.evaluate({x1, x2}, y);
  std::vector<Tensor> p = m.predict({x1, x2});
  std::cout << logs["mae"] << p[0].shape() << m.inputs().size() << m.output_names()[0] << "\n";
  return m.output_names()[0] == "y" ? 0 : 1;
}

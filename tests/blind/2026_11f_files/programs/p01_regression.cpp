// Tensors from vectors, a model by add(), shapes printed, evaluate and predict.
#include <cmath>
#include <iostream>
#include <vector>
#include "plimsoll/model.h"
#include "plimsoll/error.h"
using namespace plimsoll;
int main() {
  set_random_seed(3);
  std::vector<float> xs, ys;
  for (int i = 0; i < 200; ++i) { xs.push_back(i / 100.f - 1); ys.push_back(2 * xs.back() + 1); }
  Tensor x = Tensor::from<float>(xs, {200, 1}), y = Tensor::from<float>(ys, {200, 1});
  Sequential model;
  model.add(Input({1}));
  model.add(Dense(16, {.activation = "relu"}));
  model.add(Dense(1));
  model.compile({.optimizer = Adam(0.05), .loss = "mse", .metrics = {"mae"}});
  model.fit(x, y, {.epochs = 30, .verbose = 0});
  std::cout << "x " << x.shape() << " out " << model.output_shape() << " in " << model.input_shape() << "\n";
  auto logs = model.evaluate(x, y);
  std::cout << logs["loss"] << " " << logs["mae"] << "\n";
  return logs["mae"] < 0.1 ? 0 : 1;
}

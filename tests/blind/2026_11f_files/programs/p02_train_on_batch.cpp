// The loop of a GAN-like script: train_on_batch, test_on_batch, predict_on_batch of single tensors.
#include <cstdio>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main() {
  set_random_seed(1);
  Sequential model({Input({4}), Dense(8, {.activation = "tanh"}), Dense(1)});
  model.compile({.optimizer = SGD(0.1), .loss = "mse", .metrics = {"mae"}});
  Tensor x = Tensor::full(DType::f32, {8, 4}, 0.5), y = Tensor::full(DType::f32, {8, 1}, 0.25);
  double first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    auto logs = model.train_on_batch(x, y);
    if (i == 0) first = logs["loss"];
    last = logs["loss"];
  }
  auto t = model.test_on_batch(x, y);
  Tensor p = model.predict_on_batch(x);
  std::printf("%f %f %f %lld\n", first, last, t["mae"], static_cast<long long>(p.shape()[0]));
  return last < first ? 0 : 1;
}

// Two models trained in turn on batches.
#include <cstdio>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main() {
  set_random_seed(4);
  Sequential generator({Input({2}), Dense(8, {.activation = "relu"}), Dense(1)}), judge({Input({1}), Dense(8, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
  judge.compile({.optimizer = Adam(0.01), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  for (int k = 0; k < 10; ++k) {
    Tensor fake = generator.predict_on_batch(Tensor::full(DType::f32, {16, 2}, 0.1 * k)), real = Tensor::full(DType::f32, {16, 1}, 2);
    Tensor x = concatenate(std::vector<Tensor>{fake, real}, 0), y = concatenate(std::vector<Tensor>{Tensor::zeros(DType::f32, {16, 1}), Tensor::full(DType::f32, {16, 1}, 1)}, 0);
    Logs logs = judge.train_on_batch(x, y);
    std::printf("%f %f\n", logs["loss"], logs["accuracy"]);
  }
  return 0;
}

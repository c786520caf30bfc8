// Transfer learning: pop the head, freeze, put another on.
#include <iostream>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  Sequential base({Input({6}), Dense(8, {.activation = "relu", .name = "body"}), Dense(3, {.activation = "softmax", .name = "head"})});
  base.pop();
  base.add(Dense(2, {.name = "new_head"}));
  base.get_layer("body")->set_trainable(false);
  base.compile({.optimizer = "adam", .loss = "mse"});
  base.fit(Tensor::zeros(DType::f32, {16, 6}), Tensor::zeros(DType::f32, {16, 2}), {.verbose = 0});
  std::cout << base.summary() << base.output_shape() << base.layers().size() << base.get_layer("body")->output_shape() << "\n";
  return base.layers().size() == 2 ? 0 : 1;
}

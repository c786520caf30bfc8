// Layers called on numbers, as in a notebook.
#include <iostream>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main() {
  Tensor x = Tensor::of({{1, -2, 3}, {4, 5, -6}});
  std::cout << ReLU()(x) << "\n";
  Layer d = Dense(2, {.kernel_initializer = "ones"});
  Tensor y = d(x);
  std::cout << y << " " << y.shape() << "\n";
  if (y[{0, 0}].item() != 2) return 1;
  std::cout << d->get_weights().size() << " " << Flatten()(Tensor::zeros(DType::f32, {2, 3, 4})).shape() << "\n";
  Tensor z = Concatenate()({x, y});
  if (z.shape()[1] != 5) return 2;
  Tensor again = d(x);
  return max(absolute(again - y)).item() == 0 ? 0 : 3;
}

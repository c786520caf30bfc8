// set_weights, get_weights, save_weights, load_weights; a clone has the same predictions.
#include <iostream>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
Sequential make() { return Sequential({Input({3}), Dense(4, {.activation = "gelu"}), BatchNormalization(), Dense(2)}); }
int main() {
  Sequential a = make(), b = make();
  b.set_weights(a.get_weights());
  Tensor x = Tensor::of({{1, 2, 3}, {-1, 0, 1}});
  if (max(absolute(a.predict(x) - b.predict(x))).item() != 0) return 1;
  a.save_weights("/tmp/p09.weights.h5");
  Sequential c = make();
  c.load_weights("/tmp/p09.weights.h5");
  if (max(absolute(a.predict(x) - c.predict(x))).item() != 0) return 2;
  std::cout << a.get_weights()[0].shape() << " " << a.count_params() << "\n";
  return a.count_params() == 3 * 4 + 4 + 16 + 8 + 2 ? 0 : 3;
}

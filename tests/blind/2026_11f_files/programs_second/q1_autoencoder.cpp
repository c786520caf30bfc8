// Encoder and decoder trained as one, used apart.
#include <iostream>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
int main() {
  set_random_seed(1);
  Sequential encoder({Input({6}), Dense(3, {.activation = "tanh"})}), decoder({Input({3}), Dense(6)});
  Symbol x = Input({6});
  Model both(x, decoder(encoder(x)));
  both.compile({.optimizer = Adam(0.02), .loss = "mse"});
  Tensor data = Tensor::of({{1, 2, 3, 4, 5, 6}, {6, 5, 4, 3, 2, 1}}) / 6.0;
  both.fit(data, data, {.epochs = 50, .verbose = 0, .validation_data = {data, data}});
  Tensor code = encoder.predict(data), back = decoder.predict(code);
  std::cout << code.shape() << both.output_shape() << "\n";
  return max(absolute(back - both.predict(data))).item() < 1e-5 ? 0 : 1;
}

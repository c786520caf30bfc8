// LSTM with states passed on; hidden sizes read from shapes; masks.
#include <iostream>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  Symbol e = Input({5, 3}), d = Input({4, 2});
  auto states = LSTM(6, {.return_state = true})(e);
  Symbol s = LSTM(6, {.return_sequences = true})(d, {.initial_state = {states[1], states[2]}});
  Model m({e, d}, {TimeDistributed(Dense(2))(s)});
  std::cout << s.shape() << " " << m.output_shape() << "\n";
  auto out = m.predict({Tensor::zeros(DType::f32, {3, 5, 3}), Tensor::zeros(DType::f32, {3, 4, 2})});
  return out[0].shape()[1] == 4 ? 0 : 1;
}

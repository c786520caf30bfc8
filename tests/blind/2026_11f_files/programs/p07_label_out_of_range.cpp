// Classes from 1 to 3 for three outputs, as data sets of R and Matlab have them.
#include <iostream>
#include <string>
#include "plimsoll/model.h"
#include "plimsoll/error.h"
using namespace plimsoll;
int main() {
  Sequential model({Input({4}), Dense(3, {.activation = "softmax"})});
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const std::vector<int32_t> labels = {1, 2, 3, 1, 2, 3, 1, 2};
  try {
    model.fit(Tensor::zeros(DType::f32, {8, 4}), Tensor::from<int32_t>(labels, {8}), {.verbose = 0});
  } catch (const Error& e) {
    std::cout << e.what() << "\n";
    return std::string(e.what()).find('3') != std::string::npos ? 0 : 1;
  }
  return 2;
}

// A token that has no row: an error that says so before anything is trained.
#include <iostream>
#include <string>
#include "plimsoll/model.h"
#include "plimsoll/error.h"
using namespace plimsoll;
int main() {
  Sequential model({Input({3}, {.dtype = "int32"}), Embedding(10, 4, {.name = "words"}), Flatten(), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse"});
  Tensor x = Tensor::full(DType::i32, {8, 3}, 12), y = Tensor::zeros(DType::f32, {8, 1});
  int caught = 0;
  try { model.fit(x, y, {.verbose = 0}); } catch (const Error& e) { std::cout << e.what() << "\n"; caught += std::string(e.what()).find("12") != std::string::npos && std::string(e.what()).find("words") != std::string::npos; }
  try { model.predict(x); } catch (const Error& e) { std::cout << e.what() << "\n"; ++caught; }
  return caught == 2 ? 0 : 1;
}

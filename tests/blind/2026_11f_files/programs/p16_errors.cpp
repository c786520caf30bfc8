// What goes wrong says what was expected and what came.
#include <iostream>
#include <string>
#include "plimsoll/error.h"
#include "plimsoll/model.h"
using namespace plimsoll;
template <class F> bool says(F f, std::initializer_list<const char*> words) {
  try { f(); } catch (const Error& e) {
    std::cout << e.what() << "\n";
    for (const char* w : words) if (std::string(e.what()).find(w) == std::string::npos) return false;
    return true;
  }
  return false;
}
int main() {
  Sequential model({Input({4}), Dense(3)});
  bool ok = says([&] { model.fit(Tensor::zeros(DType::f32, {4, 4}), Tensor::zeros(DType::f32, {4, 3})); }, {"compile"});
  ok &= says([&] { model.predict(Tensor::zeros(DType::f32, {4, 5})); }, {"4", "5"});
  ok &= says([&] { model.get_layer("dens"); }, {"dense"});
  ok &= says([&] { Dense(3, {.activation = "reluu"})(Input({2})); }, {"reluu", "relu"});
  ok &= says([&] { load_model("/no/such.keras"); }, {"/no/such.keras"});
  ok &= says([&] { model.compile({.optimizer = "adam", .loss = "mean_squared"}); }, {"mean_squared_error"});
  ok &= says([&] { Conv2D(3, 3)(Input({4})); }, {"4"});
  ok &= says([&] { Sequential s({Input({4}), Dense(3)}); s.pop(); s.pop(); }, {"pop"});
  return ok ? 0 : 1;
}

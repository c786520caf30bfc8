// Learns y = 3x - 1 with an installed Plimsoll.
#include <cmath>
#include <cstdio>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

int main() {
  try {
    set_random_seed(1);
    std::vector<float> x, y;
    for (int i = 0; i < 256; ++i) {
      x.push_back(static_cast<float>(i) / 128.0f - 1.0f);
      y.push_back(3.0f * x.back() - 1.0f);
    }
    Sequential model({Input({1}), Dense(1)});
    model.compile({.optimizer = Adam(0.05), .loss = "mse"});
    model.fit(Tensor::from<float>(x, {256, 1}), Tensor::from<float>(y, {256, 1}),
              {.epochs = 60, .verbose = 0});
    const double at_two = model.predict(Tensor::full(DType::f32, {1, 1}, 2.0)).item();
    std::printf("f(2) = %.3f, should be 5\n", at_two);
    return std::fabs(at_two - 5) < 0.1 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

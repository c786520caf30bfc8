// A small network with convolutions, trained through the public interface.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

// Whether the loss went down. `what` is for the message.
inline bool trains(const std::string& what, int epochs = 2) {
  using namespace plimsoll;
  try {
    set_random_seed(7);
    std::vector<float> x(64 * 12 * 12 * 8), y(64 * 1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101) / 101.0f - 0.5f;
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 5) * 0.2f;
    Sequential model({Input({12, 12, 8}), Conv2D(32, 3, {.activation = "relu"}),
                      Conv2D(16, 5, {.strides = 2, .activation = "relu"}), Flatten(), Dense(1)});
    model.compile({.optimizer = Adam(0.003), .loss = "mse"});
    const Tensor tx = Tensor::from<float>(x, {64, 12, 12, 8}), ty = Tensor::from<float>(y, {64, 1});
    const double before = *find_log(model.evaluate(tx, ty, {.verbose = 0}), "loss");
    model.fit(tx, ty, {.batch_size = 32, .epochs = epochs, .verbose = 0});
    const double after = *find_log(model.evaluate(tx, ty, {.verbose = 0}), "loss");
    if (std::isfinite(after) && after < before) return true;
    std::printf("%s: the loss went from %g to %g\n", what.c_str(), before, after);
  } catch (const Error& e) {
    std::printf("%s: %s\n", what.c_str(), e.what());
  }
  return false;
}

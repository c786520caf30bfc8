// Models built, trained and dropped again and again: the process does not grow, and after clear_session() it
// is as large as before the first.
//
//   cycles COUNT
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "memory/account.h"
#include "memory/readings.h"
#include "memory/resident.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"

namespace {

using namespace plimsoll;

constexpr int64_t kMB = 1'000'000;

int64_t rss() {
  std::ifstream file("/proc/self/smaps_rollup");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return readings::parse::field(text, "Rss").value_or(0);
}

void cycle(int64_t i) {
  Sequential model({Input({12, 12, 3}), Conv2D(8 + i % 3, 3, {.activation = "relu"}), BatchNormalization(),
                    MaxPooling2D(2), Flatten(), Dense(32 + i % 5, {.activation = "relu"}), Dense(3)});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  const Tensor x = Tensor::full(DType::f32, {40, 12, 12, 3}, 0.5), y = Tensor::zeros(DType::f32, {40, 3});
  model.fit(x, y, {.batch_size = 16, .verbose = 0});
  model.predict(x + x);  // an eager op
}

int run(int64_t count) {
  clear_session();
  const int64_t before = rss();
  int64_t first = 0, held = 0;
  constexpr int64_t kWarm = 8;
  for (int64_t i = 0; i < count; ++i) {
    cycle(i);
    clear_session();
    if (i + 1 == kWarm) first = rss();
    if (i + 1 == kWarm) held = account::used();
  }
  const int64_t after = rss();
  std::printf("before %.2f MB, after %lld cycles %.2f, after %lld cycles %.2f; the account grew by %lld bytes\n",
              static_cast<double>(before) / kMB, static_cast<long long>(kWarm),
              static_cast<double>(first) / kMB, static_cast<long long>(count),
              static_cast<double>(after) / kMB, static_cast<long long>(account::used() - held));
  return after - before <= 2 * kMB && after - first <= kMB && account::used() == held ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc > 1 ? std::stoll(argv[1]) : 40);
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 2;
}

// Data in a csv larger than memory, mapped, shuffled, batched; then per-batch reading.
#include <cstdio>
#include <fstream>
#include "plimsoll/data.h"
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  std::ofstream f("/tmp/p13.csv");
  f << "a,b,price\n";
  for (int i = 0; i < 300; ++i) f << i * 0.01 << "," << i % 7 << "," << i * 0.02 << "\n";
  f.close();
  Dataset data = Dataset::csv("/tmp/p13.csv", {.label = {"price"}}).shuffle(1).batch(32).prefetch(2);
  Sequential model({Input({2}), Normalization({.mean = {1.5, 3.0}, .variance = {0.75, 4.0}}), Dense(1)});
  model.compile({.optimizer = Adam(0.05), .loss = "mse"});
  History h = model.fit(data, {.epochs = 10, .verbose = 0});
  int64_t rows = 0;
  auto reader = data.read(0);
  for (Batch b; reader->next(b);) rows += b.x[0].shape()[0];
  std::printf("%lld %f\n", static_cast<long long>(rows), h["loss"].back());
  return rows == 300 && h["loss"].back() < h["loss"].front() ? 0 : 1;
}

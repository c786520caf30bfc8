// Trains on a CSV file that is never held in memory: records are read, shuffled in a window and put into
// batches as the training goes on.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

void write_table(const std::filesystem::path& path, int64_t rows) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::ofstream file(path);
  file << "area,rooms,age,price\n";
  for (int64_t i = 0; i < rows; ++i) {
    const double area = uniform(random), rooms = uniform(random), age = uniform(random);
    file << area << ',' << rooms << ',' << age << ',' << 2 * area + rooms - 0.5 * age << '\n';
  }
}

double run() {
  set_random_seed(1);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "plimsoll_houses.csv";
  write_table(path, 200'000);
  const Dataset houses =
      Dataset::csv(path.string(), {.label = {"price"}}).shuffle(1, 5000).batch(256).prefetch(2);
  Sequential model({Input({3}), Dense(16, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = Adam(5e-3), .loss = "mse"});
  const double loss = model.fit(houses, {.epochs = 2, .verbose = 2})["loss"].back();
  std::printf("a file of %lld bytes, %s held by the engine at most\n",
              static_cast<long long>(std::filesystem::file_size(path)),
              memory_text(memory_use().engine_peak).c_str());
  std::filesystem::remove(path);
  return loss;
}

}  // namespace

int main() {
  try {
    const double loss = run();
    std::printf("loss: %.2e\n", loss);
    return loss < 1e-2 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

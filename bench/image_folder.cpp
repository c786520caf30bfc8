// image_folder FOLDER SIZE THREADS: for each line on standard input reads all images below FOLDER, shuffled,
// in batches of 32 of SIZE x SIZE float32, and prints {"value": milliseconds per image}. Driven by
// image_folder.py.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "plimsoll/data.h"

int main(int argc, char** argv) {
  using namespace plimsoll;
  if (argc != 4) {
    std::fprintf(stderr, "usage: image_folder FOLDER SIZE THREADS\n");
    return 2;
  }
  try {
    const int64_t side = std::stoll(argv[2]);
    const Dataset data =
        Dataset::images(argv[1], {.size = {side, side}, .threads = std::stoi(argv[3])}).shuffle(1).batch(32);
    std::cout << "{}" << std::endl;
    int64_t epoch = 0;
    for (std::string line; std::getline(std::cin, line); ++epoch) {
      const auto start = std::chrono::steady_clock::now();
      int64_t images = 0;
      const auto reader = data.read(epoch);
      for (Batch batch; reader->next(batch);) images += batch.size();
      const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
      std::cout << "{\"value\": " << spent.count() / static_cast<double>(images) << "}" << std::endl;
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

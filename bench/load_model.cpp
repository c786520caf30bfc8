// load_model FILE: says {"ready": true}, waits for a line, loads the model file, and prints the seconds that
// took and the peak resident size of this process. Driven by load_resnet50.py.
#include <cstdio>

#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "timing.h"

using namespace plimsoll;

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: load_model FILE\n"), 2;
  try {
    std::puts("{\"ready\": true}");
    std::fflush(stdout);
    std::getchar();
    const double start = bench::now(2);
    const Model model = load_model(argv[1]);
    const double seconds = bench::now(2) - start;
    std::printf("{\"seconds\": %.4f, \"peak\": %lld}\n", seconds,
                static_cast<long long>(memory_use().resident_peak));
    std::fflush(stdout);
    while (std::getchar() != EOF) continue;
  } catch (const Error& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}

// Where there is no libFuzzer: the seeds, their beginnings, and a fixed sequence of random changes to them.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "fuzz.h"

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void change(std::string& input, std::mt19937& random) {
  const uint32_t extremes[] = {0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fffffff, 0xffffffff};
  for (uint32_t n = 1 + random() % 4; n > 0 && !input.empty(); --n) {
    const size_t at = random() % input.size();
    switch (random() % 4) {
      case 0: input[at] = static_cast<char>(random()); break;
      case 1: input[at] = static_cast<char>(input[at] ^ (1 << random() % 8)); break;
      case 2: {
        const uint32_t value = extremes[random() % std::size(extremes)];
        for (size_t i = 0; i < 4 && at + i < input.size(); ++i) input[at + i] = static_cast<char>(value >> (8 * i));
        break;
      }
      default: input.erase(at, random() % 16); break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  std::mt19937 random(1);
  for (const std::string& seed : seeds()) {
    for (size_t length = 0; length <= seed.size() && length < 4096; ++length) run(seed.substr(0, length));
    for (int i = 0; i < rounds; ++i) {
      std::string input = seed;
      change(input, random);
      run(input);
    }
  }
  std::printf("%d rounds\n", rounds);
}

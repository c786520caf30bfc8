// Where there is no libFuzzer: the seeds, their beginnings, and a fixed sequence of random changes to them.
// Usage: fuzz_x [rounds per seed] [folder of more seeds]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
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
        for (size_t i = 0; i < 4 && at + i < input.size(); ++i)
          input[at + i] = static_cast<char>(value >> (8 * i));
        break;
      }
      default: input.erase(at, random() % 16); break;
    }
  }
}

std::vector<std::string> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> contents;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return contents;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  std::mt19937 random(1);
  std::vector<std::string> all = seeds();
  if (argc > 2) {
    for (std::string& contents : files_of(argv[2])) all.push_back(std::move(contents));
  }
  for (const std::string& seed : all) {
    for (size_t length = 0; length <= seed.size() && length < 4096; ++length) run(seed.substr(0, length));
    for (int i = 0; i < rounds; ++i) {
      std::string input = i % 2 == 0 ? mutate(seed, static_cast<uint32_t>(random())) : std::string();
      if (input.empty()) {
        input = seed;
        change(input, random);
      }
      run(input);
    }
  }
  std::printf("%d rounds\n", rounds);
}

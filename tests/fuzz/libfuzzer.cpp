// Gives libFuzzer the seeds that are made in code: one mutation in sixteen starts again from a seed. Three in
// four are the format's own, where it has any.
#include <algorithm>
#include <cstring>

#include "fuzz.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  static const std::vector<std::string> all = seeds();
  if (seed % 16 == 0 || size < 8) {
    const std::string& chosen = all[(seed / 16) % all.size()];
    size = std::min(chosen.size(), max_size);
    std::memcpy(data, chosen.data(), size);
  }
  if (seed % 4 != 0) {
    const std::string changed = mutate(std::string(reinterpret_cast<const char*>(data), size), seed);
    if (!changed.empty() && changed.size() <= max_size) {
      std::memcpy(data, changed.data(), changed.size());
      return changed.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

#include "bundle.h"

#include <algorithm>
#include <unordered_map>

#include "libraries.h"
#include "text.h"

namespace plimsoll::cuda {
namespace {

// The kernel's only argument, by value: for each member the addresses of its operands, its count, and its
// first block with the number of its blocks above; last the number of members. 4 KiB are all that every
// driver takes.
constexpr size_t kWords = 512;
constexpr size_t kLookBack = 64;  // units between a bundle and a node that joins it

bool clear(const std::vector<Access>& a, const std::vector<std::vector<size_t>>& units, size_t from,
           std::span<const std::vector<Access>> accesses) {
  for (size_t u = from; u < units.size(); ++u)
    for (const size_t m : units[u])
      if (conflict(a, accesses[m])) return false;
  return true;
}

// "const float* arg0, float* arg1" as declarations of variables that are read from words.
std::string declarations(std::string_view parameters) {
  std::string text;
  for (size_t i = 0; !parameters.empty(); ++i) {
    const std::string_view one = parameters.substr(0, parameters.find(", "));
    parameters.remove_prefix(std::min(parameters.size(), one.size() + 2));
    text += concat(one, " = (", one.substr(0, one.find('*') + 1), ")words.at[base + ", i, "];\n");
  }
  return text;
}

}  // namespace

std::vector<std::vector<size_t>> make_bundles(std::span<const std::vector<Access>> accesses,
                                              std::span<const std::string> keys,
                                              std::span<const size_t> most) {
  std::vector<std::vector<size_t>> units;
  std::unordered_map<std::string_view, size_t> last;  // the unit that began last with a key
  for (size_t n = 0; n < accesses.size(); ++n) {
    if (!keys[n].empty()) {
      const auto found = last.find(keys[n]);
      if (found != last.end() && units.size() - found->second <= kLookBack &&
          units[found->second].size() < most[n] && clear(accesses[n], units, found->second, accesses)) {
        units[found->second].push_back(n);
        continue;
      }
      last[keys[n]] = units.size();
    }
    units.push_back({n});
  }
  return units;
}

std::string bundle_text(const EachKernel& k) {
  const size_t step = k.arguments + 2;
  return concat(
      "#ifndef BY_VALUE\n#define BY_VALUE(type) const __grid_constant__ type\n#endif\n",
      "#ifndef BUNDLE_WORDS\n#define BUNDLE_WORDS\nstruct bundle_words { unsigned long long at[", kWords,
      "]; };\n#endif\nextern \"C\" __global__ void __launch_bounds__(", k.threads,
      ") KERNEL(BY_VALUE(bundle_words) words) {\ntypedef ", k.index, " index;\n",
      "unsigned low = 0, high = (unsigned)words.at[", kWords - 1, "];\n",
      "while (high - low > 1) {\nconst unsigned middle = (low + high) / 2;\nif ((unsigned)words.at[middle * ",
      step, " + ", k.arguments + 1, "] <= blockIdx.x) low = middle; else high = middle;\n}\n",
      "const unsigned base = low * ", step, ";\n", declarations(k.parameters),
      "const index count = (index)words.at[base + ", k.arguments,
      "];\nconst unsigned long long range = words.at[base + ", k.arguments + 1, "];\n",
      "for (index at = (index)(blockIdx.x - (unsigned)range) * ", k.threads,
      " + threadIdx.x; at < count; at += (index)(range >> 32) * ", k.threads, ") {\n", k.body, "}\n}\n");
}

size_t bundle_size(const EachKernel& kernel) { return (kWords - 1) / (kernel.arguments + 2); }

Bundle::Bundle(std::vector<const KernelStep*> members) : members_(std::move(members)), words_(kWords) {
  const EachKernel& first = *members_.front()->each();
  for (size_t i = 0; i < members_.size(); ++i) {
    const auto blocks = static_cast<unsigned>(members_[i]->launch().blocks);
    uint64_t* const words = words_.data() + i * (first.arguments + 2) + first.arguments;
    words[0] = static_cast<uint64_t>(members_[i]->each()->count);
    words[1] = uint64_t{blocks} << 32 | blocks_;
    blocks_ += blocks;
  }
  words_.back() = members_.size();
}

void Bundle::run(CUstream stream, const CUdeviceptr* values) {
  const size_t arguments = members_.front()->each()->arguments;
  const Place place{stream, values, 0, 0};
  for (size_t i = 0; i < members_.size(); ++i)
    for (size_t k = 0; k < arguments; ++k) words_[i * (arguments + 2) + k] = place(members_[i]->args()[k]);
  void* pointer = words_.data();
  check(driver().launch(function_, blocks_, 1, 1, static_cast<unsigned>(members_.front()->each()->threads), 1,
                        1, 0, stream, &pointer, nullptr),
        "a bundle");
}

}  // namespace plimsoll::cuda

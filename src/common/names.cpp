#include "common/names.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace plimsoll {
namespace {

constexpr size_t kMostListed = 100;
constexpr size_t kLookedAt = 64;  // characters of a name

std::string folded(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Levenshtein's.
size_t distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kLookedAt);
  b = b.substr(0, kLookedAt);
  std::vector<size_t> row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t replaced = corner + (a[i - 1] == b[k - 1] ? 0 : 1);
      corner = row[k];
      row[k] = std::min({replaced, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string joined(std::span<const std::string> names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  return all;
}

std::string nearest_first(std::string_view wanted, std::vector<std::string> names) {
  // Upper and lower case decide only between names that are alike otherwise.
  std::vector<std::tuple<size_t, size_t, size_t>> order;
  for (size_t i = 0; i < names.size(); ++i)
    order.emplace_back(distance(folded(wanted), folded(names[i])), distance(wanted, names[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<std::string> sorted;
  for (const auto& [far, exact, i] : order) sorted.push_back(std::move(names[i]));
  names = std::move(sorted);
  if (names.size() <= kMostListed) return names.empty() ? "none" : joined(names);
  const std::string rest = std::to_string(names.size() - kMostListed);
  names.resize(kMostListed);
  return joined(names) + " and " + rest + " more";
}

}  // namespace plimsoll

#include <algorithm>
#include <atomic>
#include <cctype>
#include <mutex>
#include <random>

#include "common/fork.h"
#include "common/names.h"
#include "layers/base/class_list.h"
#include "plimsoll/config.h"
#include "plimsoll/error.h"
#include "plimsoll/metrics.h"

namespace plimsoll {
namespace {

std::vector<ClassDef>& rows() {
  static std::vector<ClassDef> all = [] {
    std::vector<ClassDef> list;
    for (const ClassFile file : class_files()) {
      const std::span<const ClassDef> rows = file();
      list.insert(list.end(), rows.begin(), rows.end());
    }
    return list;
  }();
  return all;
}

const ClassDef* find_row(Family family, std::string_view name) {
  for (const ClassDef& row : rows()) {
    if (row.family == family && (row.name == name || (!row.alias.empty() && row.alias == name))) return &row;
  }
  return nullptr;
}

struct SeedSource {
  ForkMutex mutex{LockOrder::seeds};
  std::mt19937_64 engine{std::random_device{}()};
};
SeedSource& seeds() {
  static SeedSource* const source = new SeedSource;  // fork() knows its mutex: never destroyed
  return *source;
}

}  // namespace

std::string_view name_of(Family family) {
  constexpr std::string_view kNames[] = {"layer",  "initializer", "regularizer", "constraint", "loss",
                                         "metric", "optimizer",   "schedule",    "callback"};
  return kNames[static_cast<size_t>(family)];
}

Ints Dims::of_rank(int rank, std::string_view place) const {
  if (size() == 1) return Ints(static_cast<size_t>(rank), front());
  require(std::ssize(*this) == rank, place, "expected one size or ", rank, ", got ", size());
  return *this;
}

void no_object(Family family) {
  fail(ErrorKind::invalid_argument, name_of(family), "expected an object, got none (a default-constructed ",
       "handle, or one that was moved away)");
}

std::shared_ptr<Configurable> make_object(Family family, std::string_view name) {
  if (const ClassDef* row = find_row(family, name)) {
    std::shared_ptr<Configurable> made = row->make();
    // Keras calls a metric asked for by a string by that string: "mse", not "mean_squared_error".
    if (auto* metric = dynamic_cast<MetricBase*>(made.get())) metric->name = name;
    return made;
  }
  if (const std::string_view reason = refusal(family, name); !reason.empty())
    fail(ErrorKind::unsupported, name_of(family), "there is no ", name, " here: ", reason);
  fail(ErrorKind::not_found, name_of(family), "there is none called '", name,
       "'; there are: ", nearest_first(name, object_names(family)));
}

std::vector<std::string> object_names(Family family) {
  std::vector<std::string> names;
  for (const ClassDef& row : rows()) {
    if (row.family != family) continue;
    names.emplace_back(row.name);
    if (!row.alias.empty()) names.emplace_back(row.alias);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> required_arguments(Family family, std::string_view name) {
  std::vector<std::string> names;
  const ClassDef* row = find_row(family, name);
  if (row == nullptr) return names;
  for (const std::string_view argument : row->required) {
    if (!argument.empty()) names.emplace_back(argument);
  }
  return names;
}

bool is_builtin(Family family, std::string_view name) {
  for (const ClassFile file : class_files()) {
    for (const ClassDef& row : file()) {
      if (row.family == family && row.name == name) return true;
    }
  }
  return false;
}

void register_class(const ClassDef& row) {
  require(find_row(row.family, row.name) == nullptr, name_of(row.family), "the name '", row.name,
          "' is taken");
  rows().push_back(row);
}

void set_random_seed(uint64_t seed) {
  SeedSource& s = seeds();
  const std::lock_guard lock(s.mutex);
  s.engine.seed(seed);
}

int64_t next_seed() {
  SeedSource& s = seeds();
  const std::lock_guard lock(s.mutex);
  return static_cast<int64_t>(s.engine() >> 33);
}

}  // namespace plimsoll

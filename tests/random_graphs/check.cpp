#include "random_graphs/check.h"

#include <cstdlib>

#include "plimsoll/error.h"
#include "support/compare.h"
#include "support/plain_options.h"

namespace plimsoll::testing {

namespace {

// Relative to the largest element, after up to 24 steps and their gradients. Where sums are taken in another
// order, a value rounds to the next half: after a few steps some units of it.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-10;
    case DType::f16: return 2e-2;
    case DType::bf16: return 0.12;
    default: return 5e-4;
  }
}

// Values and gradients are of order 1, but some are zero by cancellation.
constexpr double kLeast = 0.1;

std::vector<Tensor> run(const Recipe& recipe, const CompileOptions& options) {
  const RandomGraph made = build(recipe);
  made.graph.verify();
  std::vector<Tensor> results = Program::compile(made.graph, options)(made.inputs);
  results.push_back(made.variable);
  return results;
}

std::string failure(const Recipe& recipe, const std::vector<Variant>& variants) {
  try {
    const std::vector<Tensor> want = run(recipe, plain_options());
    for (const Variant& variant : variants) {
      const std::vector<Tensor> got = run(recipe, variant.options);
      for (size_t i = 0; i < want.size(); ++i) {
        const std::string how = difference(got[i], want[i], tolerance_of(recipe.dtype), kLeast);
        if (!how.empty()) return concat(variant.name, ", output ", i, ": ", how);
      }
    }
  } catch (const std::exception& e) {
    return concat("threw ", std::string(e.what()));
  }
  return "";
}

// Leaves out steps, large groups first, as long as what is left still fails.
Recipe shrink(Recipe recipe, const std::vector<Variant>& variants) {
  for (size_t group = recipe.steps.size() / 2; group > 0; group /= 2) {
    for (size_t at = 0; at + group <= recipe.steps.size();) {
      Recipe smaller = recipe;
      const auto from = smaller.steps.begin() + static_cast<ptrdiff_t>(at);
      smaller.steps.erase(from, from + static_cast<ptrdiff_t>(group));
      if (failure(smaller, variants).empty()) {
        ++at;
      } else {
        recipe = smaller;
      }
    }
  }
  return recipe;
}

std::string text_of(const Recipe& recipe) {
  try {
    return build(recipe).graph.text();
  } catch (const std::exception& e) {
    return concat("(not built: ", std::string(e.what()), ")");
  }
}

}  // namespace

std::optional<Seeds> seeds_of_environment() {
  const char* range = std::getenv("PLIMSOLL_RANDOM_GRAPHS");
  if (range == nullptr) return std::nullopt;
  char* rest = nullptr;
  const uint64_t first = std::strtoull(range, &rest, 10);
  return Seeds{first, *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1};
}

std::string first_failure(const Seeds& seeds, const std::vector<Variant>& variants) {
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    const Recipe recipe = random_recipe(seed);
    if (failure(recipe, variants).empty()) continue;
    const Recipe small = shrink(recipe, variants);
    return concat("seed ", seed, ", ", failure(small, variants), "\n", text_of(small));
  }
  return "";
}

}  // namespace plimsoll::testing

// Generated cases of (model, batch, line of the fit): each trains with never a byte over the line, or raises
// before the first batch, changes nothing, and names a line that does.
#include <gtest/gtest.h>

#include "line_cases/generated.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

using testing::Generated;

// The most that the fit held.
int64_t fit_under(Generated& g, int64_t line) {
  int64_t peak = 0;
  const auto read = [&](const Logs&) { peak = Budget::current()->peak(); };
  g.fit(std::to_string(line), {LambdaCallback({.on_train_end = read})});
  return peak;
}

void run_case(uint32_t seed, int* refused) {
  Generated g(seed);
  const std::vector<char> before = testing::bytes_of(g.model);
  int64_t least = 0;
  try {
    EXPECT_LE(fit_under(g, g.line), g.line);
    return;
  } catch (const MemoryLineError& e) {
    ++*refused;
    EXPECT_EQ(g.batches, 0);
    EXPECT_EQ(testing::bytes_of(g.model), before);
    EXPECT_EQ(e.numbers().line, g.line);
    EXPECT_LT(e.numbers().largest_batch, g.batch);
    least = e.numbers().least;
  }
  EXPECT_GT(least, g.line);
  // The same model trains on with the line it was told.
  EXPECT_LE(fit_under(g, least), least);
  EXPECT_GT(g.batches, 0);
}

TEST(LineCases, EachTrainsOrRaisesBeforeTheFirstBatch) {
  int refused = 0;
  constexpr uint32_t kCases = 120;
  for (uint32_t seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(seed);
    try {
      run_case(seed, &refused);
    } catch (const Error& e) {
      ADD_FAILURE() << e.what();
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 110);
}

}  // namespace
}  // namespace plimsoll

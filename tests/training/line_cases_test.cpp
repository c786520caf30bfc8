// Generated cases of (model, batch, line of the fit): each trains with never a byte over the line, or raises
// before the first batch, changes nothing, and names a line that does.
#include <gtest/gtest.h>

#include "line_cases/generated.h"
#include "memory/budget.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "train/model_body.h"
#include "train/step_plan.h"

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

void run_case(uint32_t seed, int* refused, const char* micro_batch = nullptr) {
  Generated g(seed);
  if (micro_batch) g.micro_batch = micro_batch;
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

// Its two kinds of batches were planned in parts under one line, and could not be compiled under another.
TEST(LineCases, WhatIsPlannedInPartsCanBeCompiled) {
  int refused = 0;
  run_case(14, &refused, "auto");
}

// All rooms there are: with less no more bytes and no less time, and the least that is named is the first
// that does.
TEST(LineCases, LessRoomIsNeverMoreBytesAndMoreRoomNeverMoreTime) {
  for (uint32_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const Generated g(seed);
    const Trainer& trainer = g.model.body().trainer;
    std::vector<StepChoices> steps;
    for (const auto& [kind, batch] :
         {std::pair(StepKind::train, g.batch), {StepKind::train, g.batch / 2}, {StepKind::test, g.batch}})
      steps.push_back(trainer.choices(kind, batch_types(g.model, batch), seed % 4 != 0));
    StepPlans plans(std::move(steps), 1000);
    const int64_t least = plans.least().bytes, whole = plans.as_they_are().bytes;
    EXPECT_FALSE(plans.within(least - 1));
    int64_t bytes = 0;
    std::pair<bool, double> price{true, 1e9};  // an exact way comes before a faster one in parts
    for (int64_t room = least; room <= whole; room += std::max<int64_t>((whole - least) / 60, 1)) {
      const auto p = plans.within(room);
      ASSERT_TRUE(p);
      ASSERT_LE(p->bytes, room);
      ASSERT_GE(p->bytes, bytes);
      const std::pair<bool, double> now{p->choices[0].recipe->parts > 1, p->choices[0].extra_seconds()};
      ASSERT_LE(now, price);
      bytes = p->bytes;
      price = now;
    }
  }
}

}  // namespace
}  // namespace plimsoll

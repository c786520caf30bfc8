// The weights of a model stand in the account as weights, whether an initializer or a file made them.
#include "memory/account.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "memory/buffer.h"
#include "plimsoll/error.h"
#include "plimsoll/layers.h"
#include "plimsoll/model.h"

namespace plimsoll::keras_io {
namespace {

// (300, 40) and (40,), and the four of a normalization.
constexpr int64_t kElements[] = {300 * 40, 40, 40, 40, 40, 40};

int64_t charge() {
  int64_t sum = 0;
  for (const int64_t n : kElements) sum += Buffer::charge_for(4 * n);
  return sum;
}

Model built() { return Sequential({Input({300}), Dense(40), BatchNormalization()}); }

TEST(WeightsInTheAccount, OfABuiltModel) {
  const int64_t before = account::used(Owner::weights), tensors = account::used(Owner::tensors);
  {
    const Model model = built();
    EXPECT_EQ(account::used(Owner::weights) - before, charge());
    EXPECT_EQ(account::used(Owner::tensors), tensors);
  }
  EXPECT_EQ(account::used(Owner::weights), before);
}

TEST(WeightsInTheAccount, OfALoadedModel) {
  for (const char* suffix : {".keras", ".h5"}) {
    const std::string file = concat(::testing::TempDir(), "account_", ::getpid(), suffix);
    built().save(file);
    const int64_t before = account::used(Owner::weights), tensors = account::used(Owner::tensors);
    {
      const Model model = load_model(file);
      EXPECT_EQ(account::used(Owner::weights) - before, charge()) << suffix;
      EXPECT_EQ(account::used(Owner::tensors), tensors) << suffix;
    }
    EXPECT_EQ(account::used(Owner::weights), before) << suffix;
    std::remove(file.c_str());
  }
}

}  // namespace
}  // namespace plimsoll::keras_io

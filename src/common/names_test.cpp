#include "common/names.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Names, AreListedNearestFirst) {
  EXPECT_EQ(nearest_first("dens", {"conv2d", "dense_1", "dense"}), "dense, dense_1, conv2d");
  EXPECT_EQ(nearest_first("ADAM", {"sgd", "adam"}), "adam, sgd");
  EXPECT_EQ(nearest_first("x", {}), "none");
}

TEST(Names, OfVeryManyOnlyTheNearestAreListed) {
  std::vector<std::string> names;
  for (int i = 0; i < 3000; ++i) names.push_back("layer_" + std::to_string(i));
  const std::string text = nearest_first("layer_2999x", names);
  EXPECT_TRUE(text.starts_with("layer_2999, ")) << text.substr(0, 40);
  EXPECT_TRUE(text.ends_with(" and 2900 more"));
}

}  // namespace
}  // namespace plimsoll

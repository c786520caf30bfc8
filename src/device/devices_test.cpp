#include "plimsoll/devices.h"

#include <gtest/gtest.h>

#include "memory/account.h"

namespace plimsoll {

TEST(Devices, TheCpuComesFirstAndSaysWhatItRunsOn) {
  const std::vector<DeviceInfo> found = devices();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].name, "cpu");
  EXPECT_FALSE(found[0].description.empty());
  EXPECT_GT(found[0].memory_total, 0);
}

TEST(Devices, TheLineIsNamedAmongTheLimits) {
  const size_t before = devices()[0].limits.size();
  account::set_limit(int64_t{3} << 30);
  const std::vector<DeviceInfo> found = devices();
  account::set_limit(account::kNoLimit);
  ASSERT_EQ(found[0].limits.size(), before + 1);
  EXPECT_EQ(found[0].limits[0], "the line is at 3.0 GiB");
}

}  // namespace plimsoll

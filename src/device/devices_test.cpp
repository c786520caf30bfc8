#include "plimsoll/devices.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "memory/account.h"
#include "plimsoll/error.h"
#include "plimsoll/log.h"

namespace plimsoll {

TEST(Devices, TheCpuComesFirstAndSaysWhatItRunsOn) {
  const std::vector<DeviceInfo> found = devices();
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].name, "cpu");
  EXPECT_FALSE(found[0].description.empty());
  EXPECT_GT(found[0].memory_total, 0);
}

TEST(Devices, APluginThatCannotBeUsedSaysWhy) {
  setenv("PLIMSOLL_DEVICES", "/there/is/no/plugin.so:/dev/null", 1);
  const std::vector<DeviceInfo> found = devices();
  std::string message;
  try {
    find_device("cuda");
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::not_found);
    message = e.what();
  }
  set_log_level(LogLevel::off);
  EXPECT_EQ(find_device(""), nullptr) << "the CPU is what is left";
  set_log_level(LogLevel::warning);
  unsetenv("PLIMSOLL_DEVICES");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_NE(found[1].problem.find("no file"), std::string::npos) << found[1].problem;
  EXPECT_FALSE(found[2].problem.empty());
  EXPECT_NE(message.find("there is no device 'cuda'; there are cpu; plugin.so cannot be used"),
            std::string::npos)
      << message;
  EXPECT_EQ(find_device("cpu"), nullptr);
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

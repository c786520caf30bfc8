#include "plimsoll/devices.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "device/nvidia.h"
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

TEST(Devices, WhyNoneCanBeUsedIsSaidOnce) {
  std::vector<std::string> said;
  set_log_sink([&](LogLevel, std::string_view place, std::string_view message) {
    said.push_back(concat(place, " ", message));
  });
  setenv("PLIMSOLL_DEVICES", "/there/is/no/other.so", 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(find_device(""), nullptr);
  unsetenv("PLIMSOLL_DEVICES");
  set_log_sink({});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("cannot be used: [device] there is no file"), std::string::npos) << said[0];
}

TEST(Devices, GpusAreNamedWithoutAnyLibrary) {
  namespace fs = std::filesystem;
  const fs::path root = concat(::testing::TempDir(), "gpus_", getpid());
  EXPECT_EQ(nvidia_gpus(root), "");
  fs::create_directories(root / "dev");
  std::ofstream(root / "dev/nvidia0") << "";
  EXPECT_EQ(nvidia_gpus(root), "a GPU of NVIDIA");
  for (const auto& [place, model] : {std::pair{"0000:19:00.0", "NVIDIA H200"},
                                     {"0000:3b:00.0", "NVIDIA H200"},
                                     {"0000:4c:00.0", "NVIDIA L4"}}) {
    const fs::path folder = root / "proc/driver/nvidia/gpus" / place;
    fs::create_directories(folder);
    std::ofstream(folder / "information") << "Model: \t\t " << model << "\nIRQ:   \t\t 17\n";
  }
  EXPECT_EQ(nvidia_gpus(root), "2 NVIDIA H200, NVIDIA L4");
  fs::remove_all(root);
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

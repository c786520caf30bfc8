// Random graphs on a device, against the plain interpreter of the CPU. PLIMSOLL_RANDOM_GRAPHS=<first
// seed>:<count> runs others, PLIMSOLL_TEST_DEVICE names another plug-in.
#include "device_plugin/interpreter.h"
#include "random_graphs/check.h"

namespace plimsoll::testing {
namespace {

class DeviceGraphs : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Modes, DeviceGraphs,
                         ::testing::Values("", "no_in_place", "fuse", "fuse_folds",
                                           "no_in_place,fuse_folds"));

TEST_P(DeviceGraphs, MatchThePlainInterpreterOfTheCpu) {
  const CompileOptions options = on(open_tested_device(GetParam()));
  EXPECT_EQ(first_failure(seeds_of_environment().value_or(Seeds{1, 100}), {{"on the device", options}}), "");
}

}  // namespace
}  // namespace plimsoll::testing

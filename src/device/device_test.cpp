#include "device/device.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

ErrorKind kind_of_load(const std::string& path) {
  try {
    load_device(path);
  } catch (const Error& e) {
    return e.kind();
  }
  return ErrorKind::internal;
}

TEST(Device, WhatIsNoPluginIsAnError) {
  EXPECT_EQ(kind_of_load("/there/is/no/such/file.so"), ErrorKind::not_found);
  EXPECT_EQ(kind_of_load("/proc/self/exe"), ErrorKind::bad_file);
  EXPECT_EQ(kind_of_load("/dev/null"), ErrorKind::bad_file);
}

TEST(Device, TheCpuSaysWhatItRunsOn) {
  const std::string text = describe_cpu();
  EXPECT_NE(text.find("Highway"), std::string::npos) << text;
  EXPECT_NE(text.find("threads"), std::string::npos) << text;
}

TEST(DeviceAccount, HoldsItsLine) {
  DeviceAccount account("test:0");
  account.charge(Owner::weights, 100);
  account.set_limit(150);
  try {
    account.charge(Owner::arena, 51);
    FAIL() << "nothing was said";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(e.what()).find("test:0"), std::string::npos) << e.what();
  }
  account.charge(Owner::arena, 50);
  EXPECT_EQ(account.used(), 150);
  EXPECT_EQ(account.used(Owner::arena), 50);
  account.release(Owner::weights, 100);
  EXPECT_EQ(account.used(), 50);
  EXPECT_EQ(account.peak(), 150);
}

}  // namespace
}  // namespace plimsoll

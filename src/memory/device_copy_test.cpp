#include "memory/device_copy.h"

#include <gtest/gtest.h>

#include <cstring>

#include "memory/buffer.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// A device of four bytes.
struct FakeCopy final : DeviceCopy {
  FakeCopy(const void* where, int* count) : at(where), fetches(count) {}
  const void* device() const override { return at; }
  void fetch(void* to) override {
    if (lost) fail(ErrorKind::device, "fake", "lost");
    ++*fetches;
    std::memcpy(to, bytes, 4);
  }
  const void* at;
  int* fetches;
  bool lost = false;
  char bytes[4] = {1, 2, 3, 4};
};

struct DeviceCopyTest : testing::Test {
  int fetches = 0;
  const int here = 0, there = 0;
  std::shared_ptr<Buffer> buffer = Buffer::make(4);
  FakeCopy& copy = static_cast<FakeCopy&>(buffer->add_copy(std::make_unique<FakeCopy>(&here, &fetches)));
};

TEST_F(DeviceCopyTest, IsCurrentFromTheCopyingToTheNextWrite) {
  EXPECT_FALSE(buffer->is_current(copy));
  buffer->copied_to(copy);
  EXPECT_TRUE(buffer->is_current(copy));
  buffer->changed();
  EXPECT_FALSE(buffer->is_current(copy));
}

TEST_F(DeviceCopyTest, WhatTheDeviceWroteIsFetchedOnce) {
  buffer->written_on(copy);
  EXPECT_TRUE(buffer->is_current(copy));
  EXPECT_EQ(fetches, 0);
  EXPECT_EQ(static_cast<char*>(buffer->data())[2], 3);
  EXPECT_EQ(static_cast<char*>(buffer->data())[3], 4);
  EXPECT_EQ(fetches, 1);
  EXPECT_TRUE(buffer->is_current(copy)) << "both have the contents now";
}

TEST_F(DeviceCopyTest, APointerThatSomebodyHoldsMakesItStale) {
  buffer->expose();
  buffer->copied_to(copy);
  EXPECT_FALSE(buffer->is_current(copy));
  buffer->written_on(copy);
  EXPECT_TRUE(buffer->is_current(copy));
  (void)buffer->data();
  EXPECT_FALSE(buffer->is_current(copy));
}

TEST_F(DeviceCopyTest, OnlyOneDeviceHasTheNewest) {
  auto& other = static_cast<FakeCopy&>(buffer->add_copy(std::make_unique<FakeCopy>(&there, &fetches)));
  EXPECT_EQ(buffer->copy_on(&there), &other);
  buffer->copied_to(other);
  buffer->written_on(copy);
  EXPECT_FALSE(buffer->is_current(other));
  (void)buffer->data();
  buffer->copied_to(other);
  EXPECT_TRUE(buffer->is_current(other) && buffer->is_current(copy));
}

TEST_F(DeviceCopyTest, WhatIsLostIsAnErrorUntilItIsWrittenAnew) {
  buffer->written_on(copy);
  copy.lost = true;
  EXPECT_THROW((void)buffer->data(), Error);
  EXPECT_THROW((void)buffer->data(), Error);
  static_cast<char*>(buffer->overwrite())[0] = 7;
  EXPECT_EQ(static_cast<char*>(buffer->data())[0], 7);
  EXPECT_FALSE(buffer->is_current(copy));
}

}  // namespace
}  // namespace plimsoll

#include "memory/resident.h"

#include <gtest/gtest.h>

#include "memory/account.h"
#include "memory/images.h"
#include "memory/line.h"
#include "memory/readings.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

// Large enough that a page of code or two does not matter.
alignas(4096) char zeros[8 << 20];

TEST(Images, CountThePagesThatAreInMemory) {
  const int64_t before = images::in_memory();
  EXPECT_GT(before, 0);
  for (size_t i = 0; i < sizeof zeros; i += 4096) zeros[i] = 1;
  EXPECT_NEAR(static_cast<double>(images::in_memory() - before), sizeof zeros, 1 << 20);
}

TEST(Images, DroppedComeBackWhenTheyAreUsed) {
  const int64_t before = readings::process()->resident;
  images::drop();
  EXPECT_LT(readings::process()->resident, before);
  EXPECT_EQ(zeros[0], 1);
  EXPECT_GT(images::in_memory(), 0);
}

TEST(Resident, IsChargedWhenALineIsDrawn) {
  set_memory_limit(int64_t{1} << 40);
  const int64_t charged = account::used(Owner::process);
  EXPECT_GE(charged, images::in_memory() / 2);
  EXPECT_LE(charged, readings::process()->resident + (20 << 20));
  resident::add_thread();
  line::measure();
  EXPECT_GT(account::used(Owner::process), 0);
  resident::remove_thread();
  EXPECT_EQ(memory_use().engine, account::used());
  set_memory_limit(INT64_MAX);
}

}  // namespace
}  // namespace plimsoll

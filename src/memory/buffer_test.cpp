#include "memory/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "memory/host.h"
#include "memory/pool.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr int64_t kSizes[] = {0,
                              1,
                              63,
                              64,
                              65,
                              1000,
                              4096,
                              1 << 16,
                              (1 << 20) - 200,
                              (1 << 20) - 128,
                              (1 << 20) - 127,
                              1 << 20,
                              (1 << 20) + 1,
                              5 << 20,
                              (16 << 20) + 12345};

TEST(Buffer, IsAlignedAndWritableAtEverySize) {
  for (const int64_t size : kSizes) {
    const auto buffer = Buffer::make(size);
    ASSERT_NE(buffer->data(), nullptr);
    EXPECT_EQ(buffer->bytes(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % kAlignment, 0u) << size;
    std::memset(buffer->data(), 0xAB, static_cast<size_t>(size));
  }
}

TEST(Buffer, IsChargedToItsOwnerAndGivesItBack) {
  for (const int64_t size : kSizes) {
    const int64_t before = account::used(Owner::weights);
    auto buffer = Buffer::make(size, Owner::weights);
    EXPECT_EQ(account::used(Owner::weights) - before, Buffer::charge_for(size));
    EXPECT_GE(Buffer::charge_for(size), size);
    buffer.reset();
    EXPECT_EQ(account::used(Owner::weights), before);
  }
}

TEST(Buffer, ChangesItsOwnerWithItsWholeCharge) {
  const int64_t weights = account::used(Owner::weights), tensors = account::used(Owner::tensors),
                all = account::used();
  {
    const auto buffer = Buffer::make(100'000);
    const int64_t taken = account::used() - all;
    buffer->set_owner(Owner::weights);
    EXPECT_EQ(account::used(Owner::weights) - weights, Buffer::charge_for(100'000));
    EXPECT_EQ(account::used(Owner::tensors), tensors);
    EXPECT_EQ(account::used() - all, taken);
  }
  EXPECT_EQ(account::used(Owner::weights), weights);
  EXPECT_EQ(account::used(), all);
}

TEST(Buffer, TwoOfThemNeverShareBytes) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      const int64_t size = 8 + (i * 37) % 3000;
      buffers.push_back(Buffer::make(size));
      std::memset(buffers.back()->data(), i, static_cast<size_t>(size));
    }
    for (int i = 0; i < 200; ++i) {
      const auto* bytes = static_cast<const unsigned char*>(buffers[static_cast<size_t>(i)]->data());
      EXPECT_EQ(bytes[0], i % 256);
      EXPECT_EQ(bytes[buffers[static_cast<size_t>(i)]->bytes() - 1], i % 256);
    }
    buffers.clear();
  }
}

TEST(Buffer, WrapsBytesOfOthersWithoutACharge) {
  const int64_t before = account::used();
  auto owner = std::make_shared<std::vector<int>>(4, 7);
  {
    const auto buffer = Buffer::wrap(owner->data(), 16, owner);
    EXPECT_EQ(account::used(), before);
    EXPECT_EQ(buffer->data(), owner->data());
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Buffer, RefusesSizesThatMakeNoSense) {
  EXPECT_THROW(Buffer::make(-1), Error);
  EXPECT_THROW(Buffer::make(INT64_MAX), Error);
  EXPECT_THROW(Buffer::make(int64_t{1} << 55), Error);
}

ErrorKind kind_of_make(int64_t bytes) {
  try {
    Buffer::make(bytes);
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "the buffer was made";
  return ErrorKind::internal;
}

TEST(Buffer, ARefusedChargeIsAnErrorAndLeavesNothingBehind) {
  const int64_t before = account::used();
  for (const int64_t size : {int64_t{100}, int64_t{8} << 20}) {
    account::fail_nth_charge(1);
    EXPECT_EQ(kind_of_make(size), ErrorKind::out_of_memory);
    EXPECT_EQ(account::used(), before);
    EXPECT_NE(Buffer::make(size), nullptr);
  }
}

TEST(Buffer, ARefusalOfTheSystemIsAnErrorAndLeavesNothingBehind) {
  const int64_t before = account::used();
  for (const int64_t size : {int64_t{100}, int64_t{8} << 20}) {
    pool::trim();  // so that the front comes from the system too
    const int64_t start = host::requests();
    Buffer::make(size).reset();
    const int64_t requests = host::requests() - start;
    for (int64_t n = 1; n <= requests; ++n) {
      pool::trim();
      host::fail_nth(n);
      EXPECT_EQ(kind_of_make(size), ErrorKind::out_of_memory) << "request " << n;
      host::fail_nth(0);
      EXPECT_EQ(account::used(), before);
      EXPECT_NE(Buffer::make(size), nullptr);
    }
  }
}

TEST(Buffer, ThreadsMayMakeAndDropAtOnce) {
  const int64_t before = account::used();
  const auto work = [] {
    std::vector<std::shared_ptr<Buffer>> held(16);
    for (int i = 0; i < 4000; ++i) {
      auto& slot = held[static_cast<size_t>(i % 16)];
      slot = Buffer::make(1 + (i * 97) % 5000);
      std::memset(slot->data(), i, static_cast<size_t>(slot->bytes()));
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(account::used(), before);
}

TEST(Pool, BlocksAreAtMostAQuarterTooLarge) {
  for (int64_t bytes = 1; bytes <= pool::kLargestBlock; bytes = bytes * 9 / 8 + 1) {
    const int64_t size = pool::block_size(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(size % 64, 0);
    EXPECT_LE(size, bytes + std::max<int64_t>(63, bytes / 4)) << bytes;
  }
  EXPECT_EQ(pool::block_size(pool::kLargestBlock), pool::kLargestBlock);
}

TEST(Pool, KeepsBoundedBytesAndTrimsToNone) {
  std::vector<void*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(pool::take(100000));
  for (void* block : blocks) pool::give(block, 100000);
  EXPECT_LE(pool::cached(), pool::kMostCached);
  for (int64_t bytes = 1; bytes <= pool::kLargestBlock; bytes = bytes * 5 / 4 + 1) {
    pool::give(pool::take(bytes), bytes);
  }
  pool::trim();
  EXPECT_EQ(pool::cached(), 0);
}

}  // namespace
}  // namespace plimsoll

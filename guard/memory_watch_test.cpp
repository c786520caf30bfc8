#include "guard/memory_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace plimsoll::guard {
namespace {

constexpr int64_t kBytes = 64 << 20;

int64_t resident() {
  MemoryWatch watch;
  watch.read(::getpid(), 0);
  return watch.resident();
}

TEST(MemoryWatch, PagesThatForksShareCountOnce) {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kBytes);
  const int64_t alone = resident();
  int hold[2], ready[2];
  ASSERT_EQ(::pipe(hold) + ::pipe(ready), 0);
  for (int i = 0; i < 4; ++i) {
    if (::fork() != 0) continue;
    ::close(hold[1]);
    // The last of them has a copy of its own.
    if (i == 3) std::memset(memory, 2, kBytes);
    char byte = 'x';
    [[maybe_unused]] ssize_t n = ::write(ready[1], &byte, 1);
    n = ::read(hold[0], &byte, 1);
    ::_exit(0);
  }
  char bytes[4];
  for (int i = 0; i < 4; ++i) ASSERT_EQ(::read(ready[0], bytes, 1), 1);
  const int64_t together = resident();
  for (int fd : {hold[0], hold[1], ready[0], ready[1]}) ::close(fd);
  for (int i = 0; i < 4; ++i) ::wait(nullptr);
  ::munmap(memory, kBytes);
  EXPECT_GE(alone, kBytes);
  EXPECT_GE(together, 2 * kBytes);
  EXPECT_LT(together, alone + kBytes + kBytes / 2);
}

TEST(MemoryWatch, PagesOfFilesDoNotCountThoseOfSharedMemoryDo) {
  const int64_t before = resident();
  std::FILE* file = std::tmpfile();
  ASSERT_TRUE(file && ::ftruncate(::fileno(file), kBytes) == 0);
  const int shared = ::memfd_create("shared", 0);
  ASSERT_EQ(::ftruncate(shared, kBytes), 0);
  auto* mapped =
      static_cast<char*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0));
  volatile char sum = 0;
  for (int64_t at = 0; at < kBytes; at += 4096) sum = static_cast<char>(sum + mapped[at]);
  EXPECT_LT(resident(), before + kBytes / 2);
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  std::memset(memory, 1, kBytes);
  EXPECT_GE(resident(), before + kBytes / 2);
  ::munmap(mapped, kBytes);
  ::munmap(memory, kBytes);
  ::close(shared);
  std::fclose(file);
}

}  // namespace
}  // namespace plimsoll::guard

// Kills a training with SIGKILL at many moments, spread over the time a whole run takes, saving included;
// however often, it must end with the bits of a run that was never stopped.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
constexpr int kKills = 20;

pid_t start(const fs::path& folder, const fs::path& out) {
  const pid_t child = fork();
  if (child != 0) return child;
  execl(PLIMSOLL_RESUME_RUN, PLIMSOLL_RESUME_RUN, folder.c_str(), out.c_str(), nullptr);
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Resume, AKilledRunEndsWithTheSameBits) {
  const fs::path folder = fs::path(testing::TempDir()) / ("resume_" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(wait_for(start(folder / "whole_backup", folder / "whole")), 0);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  const std::string whole = bytes_of(folder / "whole");
  ASSERT_FALSE(whole.empty());

  uint32_t random = 12345;
  int killed = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = start(folder / "backup", folder / "out");
    random = random * 1664525u + 1013904223u;
    usleep(static_cast<useconds_t>(spent.count() * (random >> 8) / (1 << 24)));
    kill(child, SIGKILL);
    if (WIFSIGNALED(wait_for(child))) {
      ++killed;
      continue;
    }
    // It was through before: compare, and begin anew.
    EXPECT_EQ(bytes_of(folder / "out"), whole);
    fs::remove_all(folder / "out");
  }
  EXPECT_GT(killed, 0);
  ASSERT_EQ(wait_for(start(folder / "backup", folder / "out")), 0);
  EXPECT_EQ(bytes_of(folder / "out"), whole);
  EXPECT_FALSE(fs::exists(folder / "backup"));
  fs::remove_all(folder);
}

}  // namespace

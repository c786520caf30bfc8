// Kills a training with SIGKILL at many moments, spread over the time a whole run takes, saving included;
// however often, it must end with the bits of a run that was never stopped: weights, log, and the epoch it
// ended in.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;
constexpr int kKills = 20;

pid_t start(const fs::path& folder, const char* save_freq) {
  const pid_t child = fork();
  if (child != 0) return child;
  execl(PLIMSOLL_RESUME_RUN, PLIMSOLL_RESUME_RUN, folder.c_str(), save_freq, nullptr);
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

void expect_same(const fs::path& got, const fs::path& whole) {
  EXPECT_EQ(bytes_of(got / "out"), bytes_of(whole / "out"));
  EXPECT_EQ(bytes_of(got / "log.csv"), bytes_of(whole / "log.csv"));
  EXPECT_FALSE(fs::exists(got / "backup"));
}

// "0": a backup after each epoch; else after so many batches.
class Resume : public testing::TestWithParam<const char*> {};

TEST_P(Resume, AKilledRunEndsWithTheSameBits) {
  const fs::path folder = fs::path(testing::TempDir()) / ("resume_" + std::to_string(getpid()));
  const fs::path whole = folder / "whole", killed_run = folder / "killed";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(wait_for(start(whole, GetParam())), 0);
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - begin;
  ASSERT_FALSE(bytes_of(whole / "out").empty());
  const std::string log = bytes_of(whole / "log.csv");
  ASSERT_LT(std::count(log.begin(), log.end(), '\n'), 13) << "was to stop early";

  uint32_t random = 12345;
  int killed = 0;
  for (int i = 0; i < kKills; ++i) {
    const pid_t child = start(killed_run, GetParam());
    random = random * 1664525u + 1013904223u;
    usleep(static_cast<useconds_t>(spent.count() * (random >> 8) / (1 << 24)));
    kill(child, SIGKILL);
    if (WIFSIGNALED(wait_for(child))) {
      ++killed;
      continue;
    }
    // It was through before: compare, and begin anew.
    expect_same(killed_run, whole);
    fs::remove_all(killed_run);
  }
  EXPECT_GT(killed, 0);
  ASSERT_EQ(wait_for(start(killed_run, GetParam())), 0);
  expect_same(killed_run, whole);
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(EachEpochAndBatches, Resume, testing::Values("0", "4"));

}  // namespace

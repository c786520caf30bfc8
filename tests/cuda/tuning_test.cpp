// What was found to be fast is remembered, in this process and in the next.
#include "tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "plimsoll/error.h"

namespace plimsoll::cuda {
namespace {

class TuningFile : public ::testing::Test {
 protected:
  ~TuningFile() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / concat("plimsoll_tuning_", ::getpid());
  const std::string path_ = folder_ / "cuda";
};

TEST_F(TuningFile, EveryCandidateRunsOnceAndTheAnswerIsKept) {
  std::vector<int> runs(3, 0);
  const auto run = [&](size_t i) { ++runs[i]; };
  const size_t chosen = Tuning(path_).choose("conv", 3, nullptr, run);
  for (const int n : runs) EXPECT_GT(n, 0);
  Tuning later(path_);
  ASSERT_TRUE(later.known("conv", 3));
  EXPECT_EQ(*later.known("conv", 3), chosen);
  runs.assign(3, 0);
  EXPECT_EQ(later.choose("conv", 3, nullptr, run), chosen);
  EXPECT_EQ(runs, std::vector<int>(3, 0));
}

TEST_F(TuningFile, OneCandidateIsNotTimed) {
  int runs = 0;
  EXPECT_EQ(Tuning(path_).choose("conv", 1, nullptr, [&](size_t) { ++runs; }), 0u);
  EXPECT_EQ(runs, 0);
}

TEST_F(TuningFile, LinesThatMeanNothingArePassedOver) {
  std::filesystem::create_directories(folder_);
  std::ofstream(path_) << "\nconv\nconv x\nsmall 7\n\xFF\xFE 1\nmatmul 2\n";
  Tuning tuning(path_);
  EXPECT_FALSE(tuning.known("conv", 4));
  EXPECT_FALSE(tuning.known("small", 4));  // there are fewer now
  ASSERT_TRUE(tuning.known("matmul", 4));
  EXPECT_EQ(*tuning.known("matmul", 4), 2u);
}

TEST_F(TuningFile, AFolderThatCannotBeWrittenIsNoError) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "file") << "no folder";
  Tuning tuning(folder_ / "file" / "cuda");
  EXPECT_LT(tuning.choose("conv", 2, nullptr, [](size_t) {}), 2u);
}

}  // namespace
}  // namespace plimsoll::cuda

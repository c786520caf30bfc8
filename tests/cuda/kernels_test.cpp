// Kernels live as long as somebody uses them, or was the last to ask for them.
#include "kernels.h"

#include <gtest/gtest.h>

#include "plimsoll/error.h"

namespace plimsoll::cuda {
namespace {

std::string writes(int value) {
  return concat("extern \"C\" __global__ void KERNEL(int* to) { *to = ", value, "; }\n");
}

int run(const Kernels::Kernel& kernel) {
  int result = 0;
  void* at = &result;
  void* arguments[] = {&at};
  EXPECT_EQ(driver().launch(kernel.function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), 0);
  return result;
}

TEST(Kernels, OneThatWasDroppedIsCompiledAgain) {
  Kernels kernels(90, 1);
  const std::string first[] = {writes(1), writes(1)};
  const Kernels::Kernel kept = kernels.get(std::span(first, 2))[1];
  const std::string second[] = {writes(2)};
  kernels.get(second);
  const std::string third[] = {writes(3)};
  EXPECT_EQ(run(kernels.get(third)[0]), 3);
  EXPECT_EQ(run(kept), 1);
  EXPECT_EQ(run(kernels.get(second)[0]), 2);
}

TEST(Kernels, SourceThatDoesNotCompileIsAnErrorAndNothingElseIsLost) {
  Kernels kernels(90);
  const std::string bad[] = {writes(1), "extern \"C\" __global__ void KERNEL(int* to) { nonsense; }\n"};
  EXPECT_THROW(kernels.get(bad), Error);
  EXPECT_EQ(run(kernels.get(std::span(bad, 1))[0]), 1);
}

}  // namespace
}  // namespace plimsoll::cuda

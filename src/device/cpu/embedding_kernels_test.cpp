#include "device/cpu/embedding_kernels.h"

#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

TEST(Embedding, LooksUpRowsAndWrapsAndClampsIndices) {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21};
  const std::vector<int64_t> indices = {2, -1, 0, 7, -9, INT64_MIN, INT64_MAX};
  std::vector<float> y(14);
  embedding_forward({DType::f32, 3, 2, DType::i64, 7}, table.data(), indices.data(), y.data(), 1);
  EXPECT_EQ(y, (std::vector<float>{20, 21, 20, 21, 0, 1, 20, 21, 0, 1, 0, 1, 20, 21}));
}

TEST(Embedding, GradientSumsRowsInOrderForAnyThreads) {
  const int64_t rows = 211, width = 67, count = 1500;
  const auto dy = random_values<float>(static_cast<size_t>(count * width), 1);
  std::vector<uint8_t> indices(static_cast<size_t>(count));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<uint8_t>(i * 37 % 190);
  std::vector<float> expected(static_cast<size_t>(rows * width), 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    for (size_t k = 0; k < static_cast<size_t>(width); ++k) {
      expected[indices[i] * static_cast<size_t>(width) + k] += dy[i * static_cast<size_t>(width) + k];
    }
  }
  for (const int threads : {1, 2, 3}) {
    std::vector<float> table(expected.size(), 7);
    embedding_backward({DType::f32, rows, width, DType::u8, count}, indices.data(), dy.data(), table.data(),
                       nullptr, threads);
    EXPECT_EQ(table, expected);
  }
}

}  // namespace
}  // namespace plimsoll

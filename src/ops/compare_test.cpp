#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>

#include "graph/op.h"

namespace plimsoll {
namespace {

struct Row {
  const char* name;
  bool (*compare)(float, float);
};

const Row kRows[] = {
    {"equal", [](float a, float b) { return a == b; }},
    {"not_equal", [](float a, float b) { return a != b; }},
    {"less", [](float a, float b) { return a < b; }},
    {"less_equal", [](float a, float b) { return a <= b; }},
    {"greater", [](float a, float b) { return a > b; }},
    {"greater_equal", [](float a, float b) { return a >= b; }},
};

const float kValues[] = {0.0f, -0.0f, 1.0f, -1.0f, NAN, INFINITY, -INFINITY, 1e-45f, 3.4e38f};

TEST(Compare, FloatsCompareAsInTheLanguageOnEveryTarget) {
  std::vector<float> a, b;
  for (const float x : kValues) {
    for (const float y : kValues) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const TensorType type{DType::f32, Shape{1}};
  const std::vector<TensorType> types = {type, type};
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const Row& row : kRows) {
      const Tile tile = get_op(row.name).tile(types, {DType::boolean, Shape{1}}, {});
      for (size_t n = 0; n <= a.size(); ++n) {
        std::vector<uint8_t> y(n + 1, 7);
        const void* in[] = {a.data(), b.data()};
        tile.fn(in, y.data(), n, nullptr);
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(y[i], row.compare(a[i], b[i]))
              << row.name << " " << a[i] << " " << b[i] << " on " << hwy::TargetName(target);
        }
        ASSERT_EQ(y[n], 7) << "wrote past the end";
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Compare, WherePicksByTheConditionOnEveryTarget) {
  const TensorType f{DType::f32, Shape{1}};
  const std::vector<TensorType> types = {{DType::boolean, Shape{1}}, f, f};
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const Tile tile = get_op("where").tile(types, f, {});
    std::vector<uint8_t> c(67);
    std::vector<float> a(67), b(67), y(67);
    for (size_t i = 0; i < 67; ++i) {
      c[i] = i % 3 == 0;
      a[i] = static_cast<float>(i);
      b[i] = -1;
    }
    const void* in[] = {c.data(), a.data(), b.data()};
    tile.fn(in, y.data(), 67, nullptr);
    for (size_t i = 0; i < 67; ++i) ASSERT_EQ(y[i], c[i] ? a[i] : b[i]) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace plimsoll

#include "device/cpu/tile.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "device/cpu/tile_plan.h"

namespace plimsoll {
namespace {

void add_one(const void* const* in, void* out, size_t n, const double*) {
  for (size_t i = 0; i < n; ++i) static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] + 1;
}
void multiply(const void* const* in, void* out, size_t n, const double*) {
  for (size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = static_cast<const float*>(in[0])[i] * static_cast<const float*>(in[1])[i];
  }
}

std::vector<float> random_floats(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 2);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = uniform(engine);
  return values;
}

void run(const Kernel& kernel, std::vector<void*> args) {
  std::vector<char> scratch(static_cast<size_t>(kernel.scratch) + 64, '\x7F');
  args.push_back(reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64));
  kernel.run(kernel.state.get(), args.data());
}

int64_t index_of(const Shape& space, const TileStrides& strides, int64_t at) {
  int64_t index = 0;
  for (int d = space.rank() - 1; d >= 0; --d) {
    index += at % space[d] * strides[static_cast<size_t>(d)];
    at /= space[d];
  }
  return index;
}

const std::vector<Shape> kSpaces = {Shape{},
                                    Shape{1},
                                    Shape{7},
                                    Shape{5000},
                                    Shape{200000},
                                    Shape{33, 64},
                                    Shape{3, 70000},
                                    Shape{70000, 3},
                                    Shape{17, 1, 31},
                                    Shape{4, 5, 6, 7},
                                    Shape{100, 2, 700},
                                    Shape{300, 1024},
                                    Shape{2, 3, 40000},
                                    Shape{20, 9, 9, 130}};

// Every way to broadcast an input: each axis kept or of size 1.
TEST(Tile, ReadsEveryBroadcast) {
  for (const Shape& space : kSpaces) {
    for (unsigned mask = 0; mask < (1u << space.rank()); ++mask) {
      std::vector<int64_t> sizes;
      for (int d = 0; d < space.rank(); ++d) sizes.push_back(mask >> d & 1 ? space[d] : 1);
      const Shape small{std::span<const int64_t>(sizes)};
      const TileStrides strides = broadcast_strides(small, space);
      TileProgram program(space);
      const int a = program.read(0, DType::f32, broadcast_strides(space, space));
      const int b = program.read(1, DType::f32, strides);
      const int operands[] = {a, b};
      const int product = program.call({multiply}, operands, DType::f32);
      program.write(2, program.call({add_one}, std::span<const int>(&product, 1), DType::f32));
      std::vector<float> x = random_floats(space.elements(), 1), y = random_floats(small.elements(), 2);
      std::vector<float> out(x.size(), NAN);
      run(program.build("test", 3, 2), {x.data(), y.data(), out.data()});
      for (int64_t i = 0; i < space.elements(); ++i) {
        const float expected =
            x[static_cast<size_t>(i)] * y[static_cast<size_t>(index_of(space, strides, i))] + 1;
        ASSERT_EQ(out[static_cast<size_t>(i)], expected) << space.str() << " mask " << mask << " at " << i;
      }
    }
  }
}

TEST(Tile, FoldsOverEverySetOfAxes) {
  for (const Shape& space : kSpaces) {
    for (unsigned mask = 1; mask < (1u << space.rank()); ++mask) {
      Ints axes;
      for (int d = 0; d < space.rank(); ++d) {
        if (mask >> d & 1) axes.push_back(d);
      }
      const TileStrides strides = fold_strides(space, axes);
      int64_t elements = 1;
      for (int d = 0; d < space.rank(); ++d) elements *= mask >> d & 1 ? 1 : space[d];
      TileProgram program(space);
      const int x = program.read(0, DType::f32, broadcast_strides(space, space));
      program.fold(1, x, Fold::sum, strides, elements);
      program.fold(2, x, Fold::max, strides, elements);
      std::vector<float> in = random_floats(space.elements(), 3);
      std::vector<float> sums(static_cast<size_t>(elements)), highest(sums), sums_alone(sums);
      run(program.build("test", 3, 2), {in.data(), sums.data(), highest.data()});
      run(program.build("test", 3, 1), {in.data(), sums_alone.data(), highest.data()});
      std::vector<double> expected(sums.size(), 0.0), most(sums.size(), -INFINITY), scale(sums.size(), 0.0);
      for (int64_t i = 0; i < space.elements(); ++i) {
        const size_t to = static_cast<size_t>(index_of(space, strides, i));
        const double v = in[static_cast<size_t>(i)];
        expected[to] += v;
        scale[to] += std::abs(v);
        most[to] = std::max(most[to], v);
      }
      EXPECT_EQ(std::memcmp(sums.data(), sums_alone.data(), sums.size() * 4), 0) << "depends on the threads";
      for (size_t i = 0; i < sums.size(); ++i) {
        ASSERT_NEAR(sums[i], expected[i], 2e-7 * scale[i]) << space.str() << " mask " << mask << " at " << i;
        ASSERT_EQ(highest[i], most[i]) << space.str() << " mask " << mask << " at " << i;
      }
    }
  }
}

// The sum over the rows of a layer's gradient, whose columns alone are work for one or two threads.
TEST(Tile, SumsOverManyRowsAreWorkForManyThreads) {
  for (const Shape& space : {Shape{2048, 512}, Shape{2048, 1024}, Shape{2048, 3000}, Shape{512, 50000}}) {
    TileProgram program(space);
    const int x = program.read(0, DType::f32, broadcast_strides(space, space));
    program.fold(1, x, Fold::sum, fold_strides(space, Ints{0}), space[1]);
    EXPECT_GE(plan_tiles(program, 2, 16).chunks, 16) << space.str();
  }
}

TEST(Tile, SumsAMillionFloatsToSevenDigits) {
  std::vector<float> x = random_floats(1 << 20, 4);
  float sum = 0;
  TileProgram program(Shape{1 << 20});
  program.fold(1, program.read(0, DType::f32, {1}), Fold::sum, {}, 1);
  run(program.build("test", 2, 2), {x.data(), &sum});
  const double expected = std::accumulate(x.begin(), x.end(), 0.0);
  EXPECT_NEAR(sum, expected, 1e-7 * expected);
}

TEST(Tile, FoldsOfNothingAreTheIdentity) {
  TileProgram program(Shape{0, 3});
  const int x = program.read(0, DType::f32, broadcast_strides(Shape{0, 3}, Shape{0, 3}));
  const int64_t first[] = {0};
  program.fold(1, x, Fold::sum, fold_strides(Shape{0, 3}, first), 3);
  program.fold(2, x, Fold::min, {}, 1);
  float sums[3] = {7, 7, 7}, least = 7;
  run(program.build("test", 3, 2), {nullptr, sums, &least});
  EXPECT_EQ(sums[2], 0.0f);
  EXPECT_EQ(least, INFINITY);
}

TEST(Tile, RunsInPlace) {
  std::vector<float> x = random_floats(100000, 5), expected = x;
  for (float& v : expected) v += 1;
  TileProgram program(Shape{100000});
  const int a = program.read(0, DType::f32, {1});
  program.write(1, program.call({add_one}, std::span<const int>(&a, 1), DType::f32));
  run(program.build("test", 2, 2), {x.data(), x.data()});
  EXPECT_EQ(x, expected);
}

TEST(Tile, RoundsHalvesAfterEveryCallOnEveryTarget) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    // 2048 + 1 is 2048 in f16: adding one twice stays there only if the first sum is rounded.
    std::vector<uint16_t> x(37, 0x6800), y(37);
    TileProgram program(Shape{37});
    int v = program.read(0, DType::f16, {1});
    for (int i = 0; i < 2; ++i) v = program.call({add_one}, std::span<const int>(&v, 1), DType::f16);
    program.write(1, v);
    run(program.build("test", 2, 1), {x.data(), y.data()});
    EXPECT_EQ(y, x) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace plimsoll

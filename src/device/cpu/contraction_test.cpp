#include "device/cpu/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Shape a, b;
  Ints a_contract, b_contract, a_batch, b_batch;
};

Shape result_shape(const Case& c) {
  Ints sizes;
  for (const int64_t axis : c.a_batch) sizes.push_back(c.a[static_cast<int>(axis)]);
  const auto add_free = [&](const Shape& s, const Ints& contract, const Ints& batch) {
    for (int64_t axis = 0; axis < s.rank(); ++axis) {
      if (std::count(contract.begin(), contract.end(), axis) + std::count(batch.begin(), batch.end(), axis) ==
          0) {
        sizes.push_back(s[static_cast<int>(axis)]);
      }
    }
  };
  add_free(c.a, c.a_contract, c.a_batch);
  add_free(c.b, c.b_contract, c.b_batch);
  return Shape(sizes);
}

template <class T>
std::vector<T> run(const Kernel& kernel, const std::vector<T>& a, const std::vector<T>& b, size_t outputs) {
  std::vector<T> out(outputs, T(77));
  std::vector<double> scratch(static_cast<size_t>(kernel.scratch) / 8 + 16);
  void* const aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  void* const args[] = {const_cast<T*>(a.data()), const_cast<T*>(b.data()), out.data(), aligned};
  kernel.run(kernel.state.get(), args);
  return out;
}

template <class T>
void check(const Case& c, double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13) {
  const DType dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  const Shape shape = result_shape(c);
  SCOPED_TRACE(concat(c.a, " . ", c.b, " -> ", shape));
  const TensorType in[] = {{dtype, c.a}, {dtype, c.b}}, out[] = {{dtype, shape}};
  const Attrs attrs;
  const ContractionAxes axes{c.a_contract, c.b_contract, c.a_batch, c.b_batch};
  std::mt19937 random(3);
  std::uniform_real_distribution<double> draw(-1, 1);
  std::vector<T> a(static_cast<size_t>(c.a.elements())), b(static_cast<size_t>(c.b.elements()));
  for (auto* v : {&a, &b}) std::generate(v->begin(), v->end(), [&] { return static_cast<T>(draw(random)); });
  const KernelQuery q{in, out, attrs, 2};
  const auto outputs = static_cast<size_t>(shape.elements());
  const auto got = run(prepare_contraction(q, axes, {}), a, b, outputs);
  const auto want = run(prepare_contraction_reference(q, axes), a, b, outputs);
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], tolerance) << "element " << i;
}

TEST(Contraction, MatchesTheReferenceOnTypicalAxes) {
  for (const Case& c : std::vector<Case>{
           {{5, 7}, {7, 3}, {1}, {0}, {}, {}},
           {{7, 5}, {3, 7}, {0}, {1}, {}, {}},
           {{2, 9, 3, 4}, {2, 6, 3, 4}, {3}, {3}, {0, 2}, {0, 2}},
           {{2, 3, 9, 6}, {2, 6, 3, 4}, {3}, {1}, {0, 1}, {0, 2}},
           {{2, 3, 4}, {4, 3, 5}, {1, 2}, {1, 0}, {}, {}},
           {{6}, {6}, {0}, {0}, {}, {}},
           {{3}, {2}, {}, {}, {}, {}},
           {{4, 0}, {0, 3}, {1}, {0}, {}, {}},
           {{0, 4}, {4, 3}, {1}, {0}, {}, {}},
           {{1, 1}, {1, 1}, {1}, {0}, {}, {}},
       }) {
    check<float>(c);
    check<double>(c);
  }
}

// Long sums, which are taken in halves, and one that cannot be.
TEST(Contraction, MatchesTheReferenceOnLongSums) {
  for (const int64_t k : {2048, 2050, 4098, 2049}) {
    for (const Case& c : std::vector<Case>{{{k, 37}, {k, 21}, {0}, {0}, {}, {}},
                                           {{37, k}, {k, 21}, {1}, {0}, {}, {}},
                                           {{2, k / 2, 64}, {2, k / 2, 96}, {0, 1}, {0, 1}, {}, {}},
                                           {{k, 1}, {k, 1}, {0}, {0}, {}, {}},
                                           {{k, 0}, {k, 3}, {0}, {0}, {}, {}}}) {
      check<float>(c, 2e-4);
      check<double>(c, 1e-12);
    }
  }
}

// Every way to sort axes into batch, free and contracted that a seed makes, in any order in memory.
TEST(Contraction, MatchesTheReferenceOnRandomAxes) {
  std::mt19937 random(11);
  const auto upto = [&](int n) { return static_cast<int64_t>(random() % static_cast<unsigned>(n + 1)); };
  for (int round = 0; round < 400; ++round) {
    const int64_t batch = upto(2), contract = upto(2), a_free = upto(2), b_free = upto(2);
    std::vector<int64_t> a_axes(static_cast<size_t>(batch + contract + a_free));
    std::vector<int64_t> b_axes(static_cast<size_t>(batch + contract + b_free));
    for (auto* axes : {&a_axes, &b_axes}) {
      std::iota(axes->begin(), axes->end(), 0);
      std::shuffle(axes->begin(), axes->end(), random);
    }
    Ints a_sizes(a_axes.size()), b_sizes(b_axes.size());
    for (int64_t& s : a_sizes) s = upto(round % 10 == 0 ? 4 : 3) + (round % 10 != 0);
    for (int64_t& s : b_sizes) s = upto(3) + 1;
    Case c;
    for (int64_t i = 0; i < batch + contract; ++i) {
      const int64_t x = a_axes[static_cast<size_t>(i)], y = b_axes[static_cast<size_t>(i)];
      b_sizes[static_cast<size_t>(y)] = a_sizes[static_cast<size_t>(x)];
      (i < batch ? c.a_batch : c.a_contract).push_back(x);
      (i < batch ? c.b_batch : c.b_contract).push_back(y);
    }
    c.a = Shape(a_sizes);
    c.b = Shape(b_sizes);
    check<float>(c);
  }
}

TEST(Contraction, IntegersWrapAndComplexNumbersMultiply) {
  const Attrs attrs;
  const Ints one = {1}, zero = {0};
  const ContractionAxes axes{one, zero, {}, {}};
  const TensorType in8[] = {{DType::i8, {1, 2}}, {DType::i8, {2, 1}}}, out8[] = {{DType::i8, {1, 1}}};
  const std::vector<int8_t> a = {100, 1}, b = {2, 1};
  EXPECT_EQ(run(prepare_contraction_reference({in8, out8, attrs}, axes), a, b, 1)[0],
            static_cast<int8_t>(201));
  const TensorType in[] = {{DType::c64, {1, 1}}, {DType::c64, {1, 1}}}, out[] = {{DType::c64, {1, 1}}};
  const std::vector<float> x = {1, 2}, y = {3, -1};  // (1 + 2i) (3 - i) = 5 + 5i
  EXPECT_EQ(run(prepare_contraction_reference({in, out, attrs}, axes), x, y, 2), (std::vector<float>{5, 5}));
}

}  // namespace
}  // namespace plimsoll

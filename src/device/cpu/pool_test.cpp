// Pooling kernels against plain loops written here, and one thread against several.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/kernel_call_testing.h"
#include "device/cpu/kernel_testing.h"
#include "device/cpu/pool_kernels.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

struct Sample {
  Shape x;
  Ints window, strides, low, high;

  Attrs attrs() const {
    return {{"window", window}, {"strides", strides}, {"pad_low", low}, {"pad_high", high}};
  }
  PoolGeometry geometry() const { return pool_geometry("test", x, attrs()); }
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> list = {
      {{2, 6, 8, 3}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
      {{3, 26, 26, 32}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
      {{1, 7, 5, 9}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
      {{2, 9, 8, 20}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {{1, 7, 7, 17}, {3, 2}, {1, 1}, {1, 0}, {1, 1}},
      {{1, 5, 6, 8}, {2, 1}, {3, 2}, {0, 0}, {0, 0}},
      {{3, 11, 4}, {3}, {2}, {0}, {1}},
      {{1, 4, 5, 6, 3}, {2, 2, 3}, {2, 1, 2}, {0, 0, 0}, {0, 0, 0}},
      {{2, 4, 4, 4, 8}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0}, {0, 0, 0}},
      {{1, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
      {{0, 4, 4, 3}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
  };
  return list;
}

struct Trial {
  PoolGeometry g;
  Attrs attrs;
  TensorType x, y, index;
  std::vector<float> xs, dys;

  explicit Trial(const Sample& s) : g(s.geometry()), attrs(s.attrs()) {
    x = {DType::f32, s.x};
    y = {DType::f32, pool_output_shape(g)};
    index = {DType::u8, y.shape};
    xs = random_values<float>(static_cast<size_t>(s.x.elements()), 1);
    for (size_t i = 0; i < xs.size(); i += 3) xs[i] = std::round(xs[i]);  // some equals
    dys = random_values<float>(static_cast<size_t>(y.shape.elements()), 2);
  }
  std::vector<Bytes> max_pool(PrepareFn prepare, int threads) const {
    return call_kernel(prepare, {x}, {y, index}, attrs, {to_bytes(xs)}, threads);
  }
  std::vector<float> max_grad(PrepareFn prepare, const Bytes& at, int threads) const {
    return from_bytes<float>(call_kernel(prepare, {y, index}, {x}, attrs, {to_bytes(dys), at}, threads)[0]);
  }
  std::vector<float> average(PrepareFn prepare, int threads) const {
    return from_bytes<float>(call_kernel(prepare, {x}, {y}, attrs, {to_bytes(xs)}, threads)[0]);
  }
  std::vector<float> average_grad(PrepareFn prepare, int threads) const {
    return from_bytes<float>(call_kernel(prepare, {y}, {x}, attrs, {to_bytes(dys)}, threads)[0]);
  }

  // Expected results, from the definition: f(y element, x element, point) for every point of every window.
  template <class F>
  void visit(const F& f) const {
    for (int64_t e = 0; e < y.shape.elements(); ++e) {
      const int64_t c = e % g.channels, o = e / g.channels % g.out_points(),
                    n = e / g.channels / g.out_points();
      for (int64_t w = 0; w < g.window_points(); ++w) {
        const int64_t d =
            o / (g.out[1] * g.out[2]) * g.stride[0] + w / (g.window[1] * g.window[2]) - g.pad_low[0];
        const int64_t h =
            o / g.out[2] % g.out[1] * g.stride[1] + w / g.window[2] % g.window[1] - g.pad_low[1];
        const int64_t v = o % g.out[2] * g.stride[2] + w % g.window[2] - g.pad_low[2];
        if (d < 0 || h < 0 || v < 0 || d >= g.in[0] || h >= g.in[1] || v >= g.in[2]) continue;
        const int64_t i = ((n * g.in[0] + d) * g.in[1] + h) * g.in[2] + v;
        f(static_cast<size_t>(e), static_cast<size_t>(i * g.channels + c), static_cast<uint8_t>(w));
      }
    }
  }
};

TEST(MaxPool, TakesTheFirstMaximumOfEachWindow) {
  for (const Sample& s : samples()) {
    const Trial t(s);
    std::vector<float> best(t.dys.size(), -INFINITY);
    std::vector<uint8_t> at(t.dys.size());
    t.visit([&](size_t y, size_t x, uint8_t w) {
      if (t.xs[x] > best[y]) best[y] = t.xs[x], at[y] = w;
    });
    for_each_target([&] {
      for (const PrepareFn prepare : {highway::prepare_max_pool, reference::prepare_max_pool}) {
        const std::vector<Bytes> got = t.max_pool(prepare, 2);
        EXPECT_EQ(from_bytes<float>(got[0]), best) << s.x.str();
        EXPECT_EQ(from_bytes<uint8_t>(got[1]), at) << s.x.str();
      }
    });
  }
}

TEST(MaxPool, GradientGoesWhereTheIndexPoints) {
  for (const Sample& s : samples()) {
    const Trial t(s);
    const Bytes at = t.max_pool(reference::prepare_max_pool, 1)[1];
    const std::vector<uint8_t> index = from_bytes<uint8_t>(at);
    std::vector<double> expected(t.xs.size());
    t.visit([&](size_t y, size_t x, uint8_t w) {
      if (index[y] == w) expected[x] += static_cast<double>(t.dys[y]);
    });
    for_each_target([&] {
      expect_close(t.max_grad(highway::prepare_max_pool_grad, at, 2), expected, 1e-6);
      expect_close(t.max_grad(reference::prepare_max_pool_grad, at, 2), expected, 1e-6);
    });
    const std::vector<float> taken = from_bytes<float>(call_kernel(
        reference::prepare_max_pool_take, {t.x, t.index}, {t.y}, t.attrs, {to_bytes(t.xs), at}, 1)[0]);
    EXPECT_EQ(taken, from_bytes<float>(t.max_pool(reference::prepare_max_pool, 1)[0]));
  }
}

TEST(AveragePool, CountsOnlyPointsInside) {
  for (const Sample& s : samples()) {
    const Trial t(s);
    std::vector<double> sum(t.dys.size()), count(t.dys.size()), back(t.xs.size());
    t.visit([&](size_t y, size_t x, uint8_t) {
      sum[y] += static_cast<double>(t.xs[x]);
      count[y] += 1;
    });
    for (size_t y = 0; y < sum.size(); ++y) sum[y] /= count[y];
    t.visit([&](size_t y, size_t x, uint8_t) { back[x] += static_cast<double>(t.dys[y]) / count[y]; });
    for_each_target([&] {
      expect_close(t.average(highway::prepare_average_pool, 2), sum, 1e-6);
      expect_close(t.average(reference::prepare_average_pool, 2), sum, 1e-6);
      expect_close(t.average_grad(highway::prepare_average_pool_grad, 2), back, 1e-6);
      expect_close(t.average_grad(reference::prepare_average_pool_grad, 2), back, 1e-6);
    });
  }
}

TEST(Pool, ResultsDoNotDependOnThreads) {
  const Trial t({{4, 33, 30, 40}, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  const std::vector<Bytes> one = t.max_pool(highway::prepare_max_pool, 1);
  EXPECT_EQ(one, t.max_pool(highway::prepare_max_pool, 3));
  EXPECT_EQ(t.max_grad(highway::prepare_max_pool_grad, one[1], 1),
            t.max_grad(highway::prepare_max_pool_grad, one[1], 3));
  EXPECT_EQ(t.average(highway::prepare_average_pool, 1), t.average(highway::prepare_average_pool, 3));
  EXPECT_EQ(t.average_grad(highway::prepare_average_pool_grad, 1),
            t.average_grad(highway::prepare_average_pool_grad, 3));
}

TEST(Pool, PlainLoopsDoNotDependOnThreads) {
  const Trial t({{2, 33, 30, 20}, {3, 3}, {2, 2}, {1, 1}, {1, 1}});
  const std::vector<Bytes> one = t.max_pool(reference::prepare_max_pool, 1);
  EXPECT_EQ(one, t.max_pool(reference::prepare_max_pool, 3));
  EXPECT_EQ(t.max_grad(reference::prepare_max_pool_grad, one[1], 1),
            t.max_grad(reference::prepare_max_pool_grad, one[1], 3));
  EXPECT_EQ(t.average(reference::prepare_average_pool, 1), t.average(reference::prepare_average_pool, 3));
  EXPECT_EQ(t.average_grad(reference::prepare_average_pool_grad, 1),
            t.average_grad(reference::prepare_average_pool_grad, 3));
}

TEST(AveragePool, TakesWindowsOfAnySize) {
  const Trial t({{2, 40, 50, 7}, {31, 37}, {3, 5}, {7, 0}, {0, 9}});
  EXPECT_THROW(t.average(highway::prepare_average_pool, 1), Error);
  std::vector<double> sum(t.dys.size()), count(t.dys.size()), back(t.xs.size());
  t.visit([&](size_t y, size_t x, uint8_t) {
    sum[y] += static_cast<double>(t.xs[x]);
    count[y] += 1;
  });
  for (size_t y = 0; y < sum.size(); ++y) sum[y] /= count[y];
  t.visit([&](size_t y, size_t x, uint8_t) { back[x] += static_cast<double>(t.dys[y]) / count[y]; });
  expect_close(t.average(reference::prepare_average_pool, 2), sum, 1e-5);
  expect_close(t.average_grad(reference::prepare_average_pool_grad, 2), back, 1e-5);
}

TEST(MaxPool, NanWins) {
  Trial t({{1, 4, 4, 9}, {2, 2}, {2, 2}, {0, 0}, {0, 0}});
  t.xs[0] = NAN;
  t.xs[9 + 8] = NAN;
  const std::vector<float> y = from_bytes<float>(t.max_pool(highway::prepare_max_pool, 1)[0]);
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[8]));
  EXPECT_FALSE(std::isnan(y[1]));
}

TEST(Pool, BadAttributesAreNamed) {
  const auto message = [](const Sample& s) {
    try {
      s.geometry();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({{2, 7, 7, 3}, {2}, {2, 2}, {0, 0}, {0, 0}}).find("2 entries in window"),
            std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {2, 2}, {0, 2}, {0, 0}, {0, 0}}).find("strides of at least 1"),
            std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {2, 2}, {2, 2}, {2, 0}, {0, 0}}).find("smaller than the window"),
            std::string::npos);
  EXPECT_NE(message({{2, 3, 7, 3}, {4, 2}, {2, 2}, {0, 0}, {0, 0}}).find("window 4 over 3"),
            std::string::npos);
  EXPECT_NE(message({{7, 3}, {1}, {1}, {0}, {0}}).find("spatial axes"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll

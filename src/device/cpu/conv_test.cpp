// The convolution kernels against each other: oneDNN's and our own against plain loops in double, our own on
// one thread against several, bit by bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "common/half.h"
#include "device/cpu/conv_kernels.h"
#include "device/cpu/conv_reference.h"
#include "device/cpu/kernel_call_testing.h"
#include "device/cpu/kernel_testing.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

struct Sample {
  Shape x, kernel;
  Ints strides = {}, low = {}, high = {}, lhs = {}, rhs = {};
  int64_t groups = 1;

  Attrs attrs() const {
    const auto full = [&](const Ints& list, int64_t v) {
      return list.empty() ? Ints(static_cast<size_t>(x.rank() - 2), v) : list;
    };
    return {{"strides", full(strides, 1)},  {"pad_low", full(low, 0)},      {"pad_high", full(high, 0)},
            {"lhs_dilation", full(lhs, 1)}, {"rhs_dilation", full(rhs, 1)}, {"groups", groups}};
  }
  ConvGeometry geometry() const { return conv_geometry("test", x, kernel, attrs()); }
};

const std::vector<Sample>& samples() {
  static const std::vector<Sample> list = {
      {{2, 7, 6, 3}, {3, 3, 3, 5}},
      {{2, 28, 28, 1}, {3, 3, 1, 32}},
      {{3, 13, 13, 32}, {3, 3, 32, 64}},
      {{2, 17, 19, 8}, {1, 1, 8, 24}},
      {{2, 16, 16, 16}, {1, 1, 16, 32}, {2, 2}},
      {{1, 23, 22, 3}, {7, 7, 3, 16}, {2, 2}, {3, 3}, {3, 3}},
      {{1, 9, 8, 4}, {3, 2, 4, 8}, {2, 3}, {1, 0}, {2, 1}},
      {{2, 9, 9, 4}, {3, 3, 2, 6}, {}, {2, 2}, {2, 2}, {}, {2, 2}, 2},
      {{2, 9, 7, 32}, {3, 3, 8, 32}, {}, {1, 1}, {1, 1}, {}, {}, 4},
      {{1, 7, 5, 6}, {3, 3, 1, 6}, {2, 1}, {1, 1}, {1, 1}, {}, {}, 6},
      {{2, 12, 11, 32}, {3, 3, 1, 32}, {1, 1}, {1, 1}, {1, 1}, {}, {}, 32},
      {{1, 6, 6, 3}, {3, 3, 1, 6}, {}, {}, {}, {}, {}, 3},
      {{2, 4, 3, 2}, {3, 3, 2, 3}, {}, {2, 1}, {1, 2}, {2, 3}},
      {{2, 5, 6, 8}, {4, 4, 8, 16}, {}, {2, 2}, {2, 2}, {2, 2}},
      {{2, 5, 6, 8}, {3, 3, 4, 16}, {}, {1, 1}, {2, 2}, {2, 2}, {}, 2},
      {{1, 4, 4, 2}, {2, 3, 2, 3}, {2, 1}, {1, 1}, {1, 1}, {3, 2}},
      {{3, 11, 4}, {3, 4, 7}, {2}, {2}, {0}},
      {{2, 30, 16}, {5, 16, 32}, {}, {4}, {0}, {}, {1}},
      {{1, 4, 5, 4, 2}, {2, 3, 2, 2, 3}, {1, 2, 1}, {0, 1, 1}, {0, 1, 0}},
      {{2, 6, 6, 6, 8}, {3, 3, 3, 8, 16}, {}, {1, 1, 1}, {1, 1, 1}},
      {{2, 5, 5, 17}, {1, 1, 17, 19}},
      {{1, 1300, 3}, {5, 3, 17}, {2}, {3}, {1}},
      {{2, 700, 2}, {3, 2, 16}},
      {{1, 5, 530, 3}, {3, 3, 3, 4}, {}, {1, 1}, {1, 1}},
      {{1, 400, 2}, {3, 2, 4}, {}, {1}, {1}, {2}},
      {{1, 1, 1, 1}, {1, 1, 1, 1}},
      {{1, 3, 3, 2}, {1, 1, 2, 3}, {}, {2, 3}, {1, 0}},
  };
  return list;
}

template <class T>
std::vector<T> noise(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> v(static_cast<size_t>(n));
  for (T& e : v) e = static_cast<T>(uniform(random));
  return v;
}

enum class Pass { forward, grad_input, grad_filter };

// One of the three ops on random operands: results of a kernel, and of plain loops in double.
template <class T>
struct Trial {
  Sample sample;
  Pass pass;
  bool bias;
  ConvGeometry g;
  TensorType x, kernel, y;
  Attrs attrs;
  std::vector<T> xs, ks, ys;

  Trial(const Sample& s, Pass p, bool with_bias = false)
      : sample(s), pass(p), bias(with_bias), g(s.geometry()) {
    const DType t = sizeof(T) == 4 ? DType::f32 : DType::f64;
    x = {t, s.x};
    kernel = {t, s.kernel};
    y = {t, conv_output_shape(g)};
    attrs = s.attrs();
    xs = noise<T>(g.x_elements(), 1);
    ks = noise<T>(g.kernel_elements(), 2);
    ys = noise<T>(g.y_elements(), 3);
  }

  std::vector<TensorType> in() const {
    if (pass == Pass::forward) return {x, kernel};
    return pass == Pass::grad_input ? std::vector{y, kernel} : std::vector{x, y};
  }
  std::vector<TensorType> out() const {
    if (pass == Pass::forward) return {y};
    if (pass == Pass::grad_input) return {x};
    std::vector<TensorType> types{kernel};
    if (bias) types.push_back({x.dtype, Shape{g.filters}});
    return types;
  }

  // All results, one after the other.
  std::vector<T> run(PrepareFn prepare, int threads) const {
    const Bytes a = to_bytes(pass == Pass::grad_input ? ys : xs),
                b = to_bytes(pass == Pass::grad_filter ? ys : ks);
    std::vector<T> all;
    for (const Bytes& result : call_kernel(prepare, in(), out(), attrs, {a, b}, threads)) {
      const std::vector<T> part = from_bytes<T>(result);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  std::vector<double> expected() const {
    const auto wide = [](const std::vector<T>& v) { return std::vector<double>(v.begin(), v.end()); };
    const std::vector<double> xd = wide(xs), kd = wide(ks), yd = wide(ys);
    if (pass == Pass::forward) {
      std::vector<double> r(ys.size());
      reference::conv<double>(g, xd.data(), kd.data(), r.data());
      return r;
    }
    if (pass == Pass::grad_input) {
      std::vector<double> r(xs.size());
      reference::conv_grad_input<double>(g, yd.data(), kd.data(), r.data());
      return r;
    }
    std::vector<double> r(ks.size()), b(static_cast<size_t>(g.filters));
    reference::conv_grad_filter<double>(g, xd.data(), yd.data(), r.data(), b.data());
    if (bias) r.insert(r.end(), b.begin(), b.end());
    return r;
  }
};

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<double>& expected, double tolerance,
                 const Sample& s) {
  ASSERT_EQ(got.size(), expected.size());
  double largest = 1e-30, error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double e = std::abs(static_cast<double>(got[i]) - expected[i]);
    error = std::isnan(e) ? INFINITY : std::max(error, e);
  }
  EXPECT_LE(error / largest, tolerance) << "x " << s.x.str() << " kernel " << s.kernel.str();
}

struct Kernels {
  Pass pass;
  PrepareFn onednn, highway, reference;
};
const Kernels kAll[] = {
    {Pass::forward, onednn::prepare_conv, highway::prepare_conv, reference::prepare_conv},
    {Pass::grad_input, onednn::prepare_conv_grad_input, highway::prepare_conv_grad_input,
     reference::prepare_conv_grad_input},
    {Pass::grad_filter, onednn::prepare_conv_grad_filter, highway::prepare_conv_grad_filter,
     reference::prepare_conv_grad_filter},
};

TEST(Conv, OwnKernelsMatchDoubleLoopsOnEveryTarget) {
  for (const Kernels& k : kAll) {
    for (const Sample& s : samples()) {
      const Trial<float> t(s, k.pass, true);
      const Trial<double> d(s, k.pass);
      const std::vector<double> expected = t.expected(), expected_double = d.expected();
      for_each_target([&] {
        expect_near(t.run(k.highway, 2), expected, kConvTolerance, s);
        expect_near(d.run(k.highway, 2), expected_double, 1e-13, s);
      });
    }
  }
}

TEST(Conv, ReferenceKernelsMatchDoubleLoops) {
  for (const Kernels& k : kAll) {
    for (const Sample& s : samples()) {
      const Trial<float> t(s, k.pass, true);
      expect_near(t.run(k.reference, 1), t.expected(), kConvTolerance, s);
    }
  }
}

TEST(Conv, OnednnMatchesDoubleLoops) {
  int ran = 0;
  for (const Kernels& k : kAll) {
    for (const Sample& s : samples()) {
      for (const bool bias : {false, true}) {
        const Trial<float> t(s, k.pass, bias);
        try {
          const std::vector<float> got = t.run(k.onednn, 2);
          expect_near(got, t.expected(), kConvTolerance, s);
          ++ran;
        } catch (const Error& e) {
          EXPECT_EQ(e.kind(), ErrorKind::unsupported) << e.what();
        }
      }
    }
  }
#if PLIMSOLL_HAVE_ONEDNN
  EXPECT_GT(ran, static_cast<int>(samples().size()));
#else
  EXPECT_EQ(ran, 0);
#endif
}

TEST(Conv, ProductsOverPointsMatchTheReference) {
  const std::vector<Sample> ones = {
      {{2, 5, 5, 17}, {1, 1, 17, 19}},
      {{2, 16, 16, 16}, {1, 1, 16, 32}, {2, 2}},
      {{3, 7, 8, 16}, {1, 1, 16, 24}, {2, 3}},
      {{1, 9, 20}, {1, 20, 16}, {4}},
      {{2, 3, 5, 4, 8}, {1, 1, 1, 8, 6}, {2, 2, 3}},
  };
  for (const Sample& s : ones) {
    for (const bool bias : {false, true}) {
      const Trial<float> t(s, Pass::grad_filter, bias);
      const std::vector<float> one = t.run(pointwise::prepare_conv_grad_filter, 1);
      expect_near(one, t.expected(), kConvTolerance, s);
      EXPECT_EQ(one, t.run(pointwise::prepare_conv_grad_filter, 2));
    }
    const Trial<float> t(s, Pass::grad_input);
    const std::vector<float> one = t.run(pointwise::prepare_conv_grad_input, 1);
    expect_near(one, t.expected(), kConvTolerance, s);
    EXPECT_EQ(one, t.run(pointwise::prepare_conv_grad_input, 2));
  }
  const Sample window{{2, 5, 5, 17}, {2, 1, 17, 19}}, padded{{1, 3, 3, 2}, {1, 1, 2, 3}, {}, {2, 3}, {1, 0}};
  for (const Sample& s : {window, padded}) {
    EXPECT_THROW(Trial<float>(s, Pass::grad_filter).run(pointwise::prepare_conv_grad_filter, 1), Error);
    EXPECT_THROW(Trial<float>(s, Pass::grad_input).run(pointwise::prepare_conv_grad_input, 1), Error);
  }
}

const std::pair<Pass, PrepareFn> kWinograd[] = {{Pass::forward, winograd::prepare_conv},
                                                {Pass::grad_input, winograd::prepare_conv_grad_input},
                                                {Pass::grad_filter, winograd::prepare_conv_grad_filter}};

TEST(Conv, WinogradMatchesDoubleLoopsOnEveryTargetAndForAnyThreads) {
  const std::vector<Sample> windows = {
      {{2, 8, 6, 32}, {3, 3, 32, 64}, {}, {1, 1}, {1, 1}},
      {{3, 13, 13, 32}, {3, 3, 32, 64}},
      {{1, 7, 9, 64}, {3, 3, 64, 32}, {}, {0, 2}, {2, 1}},
      {{2, 3, 3, 32}, {3, 3, 32, 32}},
      {{1, 1, 2, 32}, {3, 3, 32, 32}, {}, {1, 3}, {4, 1}},
      {{2, 30, 31, 32}, {3, 3, 32, 96}, {}, {1, 1}, {1, 1}},
  };
  for (const auto& entry : kWinograd) {
    const Pass pass = entry.first;
    const PrepareFn prepare = entry.second;
    for (const Sample& s : windows) {
      const Trial<float> t(s, pass, true);
      const std::vector<double> expected = t.expected();
      for_each_target([&] {
        const std::vector<float> one = t.run(prepare, 1);
        expect_near(one, expected, kConvTolerance, s);
        EXPECT_EQ(one, t.run(prepare, 2));
        EXPECT_EQ(one, t.run(prepare, 3));
      });
    }
    for (const Sample& s : samples()) {
      const ConvGeometry g = s.geometry();
      if (g.window_points() == 9 && g.groups == 1 && g.channels % 32 == 0) continue;
      EXPECT_THROW(Trial<float>(s, pass).run(prepare, 1), Error) << s.x.str();
    }
  }
}

// A large kernel and few tiles: many threads share all of them, and each reads its part of the kernel. The
// second is transformed in groups, of which the last is smaller.
TEST(Conv, WinogradGivesManyThreadsTheSame) {
  for (const Sample& s : {Sample{{2, 7, 9, 128}, {3, 3, 128, 160}, {}, {1, 1}, {1, 1}},
                          Sample{{2, 11, 9, 512}, {3, 3, 512, 320}, {}, {1, 1}, {1, 1}}}) {
    for (const auto& [pass, prepare] : kWinograd) {
      const Trial<float> t(s, pass, true);
      const std::vector<float> one = t.run(prepare, 1);
      expect_near(one, t.expected(), kConvTolerance, s);
      for (const int threads : {2, 8, 16, 33}) EXPECT_EQ(one, t.run(prepare, threads)) << threads;
    }
  }
}

// The 16 matrices of a kernel of 1024 by 1024 have 64 MiB, and would be the peak of a whole network.
TEST(Conv, WinogradOfAWideLayerWorksInLittle) {
  for (const auto& [pass, prepare] : kWinograd) {
    const Trial<float> t({{4, 8, 8, 1024}, {3, 3, 1024, 1024}, {}, {1, 1}, {1, 1}}, pass);
    const std::vector<TensorType> in = t.in(), out = t.out();
    EXPECT_LT(prepare({in, out, t.attrs, 2}).scratch, 16 << 20);
  }
}

TEST(Conv, WinogradEndsAsOurOtherKernelDoes) {
  const Sample s{{2, 13, 14, 32}, {3, 3, 32, 64}, {}, {1, 1}, {1, 1}};
  const Trial<float> t(s, Pass::forward);
  const TensorType filters{DType::f32, {64}};
  for (const char* activation : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    for (const bool whole : {false, true}) {
      Attrs attrs = t.attrs;
      attrs.set("activation", std::string(activation));
      attrs.set("scale", whole);
      attrs.set("residual", whole);
      std::vector<TensorType> in{t.x, t.kernel, filters};
      std::vector<Bytes> values{to_bytes(t.xs), to_bytes(t.ks), to_bytes(noise<float>(64, 4))};
      if (whole) {
        in.insert(in.end(), {filters, t.y});
        values.insert(values.end(), {to_bytes(noise<float>(64, 5)), to_bytes(t.ys)});
      }
      const auto run = [&](PrepareFn prepare) {
        return from_bytes<float>(call_kernel(prepare, in, {t.y}, attrs, values, 2)[0]);
      };
      const std::vector<float> other = run(highway::prepare_conv_bias);
      expect_near(run(winograd::prepare_conv_bias), {other.begin(), other.end()}, kConvTolerance, s);
    }
  }
}

TEST(Conv, OwnResultsDoNotDependOnThreads) {
  for (const Kernels& k : kAll) {
    for (const Sample& s : samples()) {
      const Trial<float> t(s, k.pass, true);
      const std::vector<float> one = t.run(k.highway, 1);
      for (const int threads : {2, 3, 16}) EXPECT_EQ(one, t.run(k.highway, threads)) << threads;
    }
  }
}

TEST(Conv, GradientsAreAdjointToTheForwardPass) {
  for (const Sample& s : samples()) {
    const Trial<double> f(s, Pass::forward), gx(s, Pass::grad_input), gk(s, Pass::grad_filter);
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    const double forward = dot(f.run(highway::prepare_conv, 1), f.ys);
    const double scale = std::abs(forward) + 1;
    EXPECT_NEAR(dot(gx.run(highway::prepare_conv_grad_input, 1), f.xs), forward, 1e-11 * scale);
    EXPECT_NEAR(dot(gk.run(highway::prepare_conv_grad_filter, 1), f.ks), forward, 1e-11 * scale);
  }
}

TEST(Conv, EmptyBatchGivesZeroFilterGradient) {
  const Sample s{{0, 5, 5, 3}, {3, 3, 3, 4}};
  for (const Kernels& k : kAll) {
    const Trial<float> t(s, k.pass, true);
    expect_near(t.run(k.highway, 2), t.expected(), 0, s);
    expect_near(t.run(k.reference, 2), t.expected(), 0, s);
  }
}

TEST(Conv, HalvesAreComputedInFloat32) {
  const Sample s{{2, 7, 6, 3}, {3, 3, 3, 5}, {}, {1, 1}, {1, 1}};
  const Trial<float> t(s, Pass::forward);
  const auto narrow = [](const std::vector<float>& v) {
    std::vector<uint16_t> h;
    for (float f : v) h.push_back(float_to_bf16(f));
    return h;
  };
  const std::vector<uint16_t> x = narrow(t.xs), kernel = narrow(t.ks);
  const std::vector<TensorType> in{{DType::bf16, t.x.shape}, {DType::bf16, t.kernel.shape}};
  const std::vector<TensorType> out{{DType::bf16, t.y.shape}};
  const std::vector<uint16_t> y = from_bytes<uint16_t>(
      call_kernel(highway::prepare_conv, in, out, t.attrs, {to_bytes(x), to_bytes(kernel)}, 1)[0]);
  Trial<float> rounded = t;
  for (size_t i = 0; i < x.size(); ++i) rounded.xs[i] = bf16_to_float(x[i]);
  for (size_t i = 0; i < kernel.size(); ++i) rounded.ks[i] = bf16_to_float(kernel[i]);
  std::vector<float> got;
  for (uint16_t h : y) got.push_back(bf16_to_float(h));
  expect_near(got, rounded.expected(), 1.0 / 256, s);
}

TEST(Conv, BadShapesAreNamed) {
  const auto message = [](const Sample& s) {
    try {
      s.geometry();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({{2, 7, 3}, {3, 3, 3, 5}}).find("expected a kernel of rank 3"), std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 4}, {3, 3, 3, 5}}).find("4 channels per group"), std::string::npos);
  EXPECT_NE(message({{2, 2, 7, 3}, {3, 3, 3, 5}}).find("window 3 over 2"), std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {3, 3, 3, 5}, {0, 1}}).find("strides of at least 1, got 0"),
            std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {3, 3, 3, 5}, {1, 1}, {-1, 0}}).find("pad_low"), std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {3, 3, 3, 5}, {1}}).find("expected 2 entries in strides, got 1"),
            std::string::npos);
  EXPECT_NE(message({{2, 7, 7, 3}, {3, 3, 1, 5}, {}, {}, {}, {}, {}, 3}).find("divide"), std::string::npos);
  const int64_t huge = int64_t{1} << 40;
  EXPECT_FALSE(message({{1, huge, 1, 1}, {1, 1, 1, 1}}).empty());
  EXPECT_FALSE(message({{1, 1, 1, 1}, {1, 1, 1, 1}, {}, {int64_t{1} << 62, 0}}).empty());
}

}  // namespace
}  // namespace plimsoll

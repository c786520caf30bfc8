#include <hwy/aligned_allocator.h>

#include "device/cpu/gru_kernels.h"
#include "device/cpu/kernel_testing.h"
#include "device/cpu/lstm_kernels.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

size_t z(int64_t n) { return static_cast<size_t>(n); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// A layer of `gates` gates: its operands, drawn at random, and where its results go.
template <class T>
struct Layer {
  RnnSizes s;
  std::vector<T> x, h0, c0, kernel, recurrent, bias, y, h, c, gates, saved;
  std::vector<T> dy, dh0, dc0, dkernel, drecurrent, dbias, dx;

  Layer(RnnSizes sizes, int64_t n, int64_t biases) : s(sizes) {
    s.dtype = kDType<T>;
    const size_t rows = z(s.rows()), u = z(s.units), b = z(s.batch), f = z(s.features), w = z(n) * u;
    x = random_values<T>(rows * f, 1);
    h0 = random_values<T>(b * u, 2);
    c0 = random_values<T>(b * u, 3);
    kernel = random_values<T>(f * w, 4, -0.5, 0.5);
    recurrent = random_values<T>(u * w, 5, -0.5, 0.5);
    bias = random_values<T>(z(biases) * w, 6);
    dy = random_values<T>(rows * u, 7);
    y = saved = std::vector<T>(rows * u);
    h = c = dh0 = dc0 = h0;
    gates.resize(rows * w);
    dkernel = kernel, drecurrent = recurrent, dbias = bias, dx = x;
  }
  // The part of gate g that input and state make, of batch row b at time t.
  double input_part(int64_t b, int64_t t, size_t column, size_t width) const {
    double total = static_cast<double>(bias[column]);
    for (size_t k = 0; k < z(s.features); ++k) {
      total += static_cast<double>(x[z(b * s.time + t) * z(s.features) + k]) *
               static_cast<double>(kernel[k * width + column]);
    }
    return total;
  }
  double state_part(const std::vector<double>& state, size_t column, size_t width) const {
    double total = 0;
    for (size_t k = 0; k < state.size(); ++k)
      total += state[k] * static_cast<double>(recurrent[k * width + column]);
    return total;
  }
};

template <class T>
void run(Layer<T>& a, bool is_lstm, int threads) {
  a.s.threads = threads;
  const auto go = [](const auto& layer, const auto& args) {
    const auto scratch = hwy::AllocateAligned<char>(z(layer.scratch_bytes()) + 1);
    layer.run(args, scratch.get());
  };
  if (is_lstm) {
    go(LstmForward(a.s),
       LstmForward::Args{a.x.data(), a.h0.data(), a.c0.data(), a.kernel.data(), a.recurrent.data(),
                         a.bias.data(), a.y.data(), a.h.data(), a.c.data(), a.gates.data(), a.saved.data()});
    go(LstmBackward(a.s, true),
       LstmBackward::Args{a.x.data(), a.h0.data(), a.c0.data(), a.kernel.data(), a.recurrent.data(),
                          a.y.data(), a.gates.data(), a.saved.data(), a.dy.data(), nullptr, nullptr,
                          a.dh0.data(), a.dc0.data(), a.dkernel.data(), a.drecurrent.data(), a.dbias.data(),
                          a.dx.data()});
  } else {
    go(GruForward(a.s),
       GruForward::Args{a.x.data(), a.h0.data(), a.kernel.data(), a.recurrent.data(), a.bias.data(),
                        a.y.data(), a.h.data(), a.gates.data(), a.saved.data()});
    go(GruBackward(a.s, true),
       GruBackward::Args{a.x.data(), a.h0.data(), a.kernel.data(), a.recurrent.data(), a.y.data(),
                         a.gates.data(), a.saved.data(), a.dy.data(), nullptr, a.dh0.data(), a.dkernel.data(),
                         a.drecurrent.data(), a.dbias.data(), a.dx.data()});
  }
}

template <class T>
std::vector<double> reference(const Layer<T>& a, bool is_lstm) {
  std::vector<double> y(a.y.size());
  const size_t u = z(a.s.units), w = (is_lstm ? 4 : 3) * u;
  for (int64_t b = 0; b < a.s.batch; ++b) {
    const auto row = [&](const std::vector<T>& v) {
      return std::vector<double>(v.begin() + b * a.s.units, v.begin() + (b + 1) * a.s.units);
    };
    std::vector<double> h = row(a.h0), c = row(a.c0);
    for (int64_t step = 0; step < a.s.time; ++step) {
      const int64_t t = a.s.reverse ? a.s.time - 1 - step : step;
      const std::vector<double> before = h;
      for (size_t j = 0; j < u; ++j) {
        const auto in = [&](size_t gate) { return a.input_part(b, t, gate * u + j, w); };
        const auto state = [&](size_t gate) {
          const double extra = is_lstm ? 0 : static_cast<double>(a.bias[w + gate * u + j]);
          return a.state_part(before, gate * u + j, w) + extra;
        };
        if (is_lstm) {
          c[j] = sigmoid(in(1) + state(1)) * c[j] + sigmoid(in(0) + state(0)) * std::tanh(in(2) + state(2));
          h[j] = sigmoid(in(3) + state(3)) * std::tanh(c[j]);
        } else {
          const double update = sigmoid(in(0) + state(0)), reset = sigmoid(in(1) + state(1));
          h[j] = update * before[j] + (1 - update) * std::tanh(in(2) + reset * state(2));
        }
        y[(z(b * a.s.time + t)) * u + j] = h[j];
      }
    }
  }
  return y;
}

RnnSizes sizes(int64_t batch, int64_t time, int64_t features, int64_t units, bool reverse = false) {
  return {DType::f32, batch, time, features, units, reverse, 1};
}

template <class T>
class Recurrent : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Recurrent, Floats);

TYPED_TEST(Recurrent, MatchesDoubleReferenceOnEveryTarget) {
  for_each_target([] {
    for (const RnnSizes& s :
         {sizes(1, 1, 1, 1), sizes(7, 4, 5, 11), sizes(3, 5, 2, 33, true), sizes(17, 3, 9, 10)}) {
      for (const bool is_lstm : {true, false}) {
        Layer<TypeParam> layer(s, is_lstm ? 4 : 3, is_lstm ? 1 : 2);
        run(layer, is_lstm, 2);
        expect_close(layer.y, reference(layer, is_lstm), 4 * kTolerance<TypeParam>);
      }
    }
  });
}

TYPED_TEST(Recurrent, DoesNotDependOnThreads) {
  for (const auto& [batch, is_lstm] : {std::pair{9, true}, {9, false}, {19, true}}) {
    Layer<TypeParam> one(sizes(batch, 4, 30, 97), is_lstm ? 4 : 3, is_lstm ? 1 : 2), two = one;
    run(one, is_lstm, 1);
    run(two, is_lstm, 2);
    EXPECT_EQ(one.y, two.y);
    EXPECT_EQ(one.dx, two.dx);
    EXPECT_EQ(one.dkernel, two.dkernel);
    EXPECT_EQ(one.drecurrent, two.drecurrent);
    EXPECT_EQ(one.dbias, two.dbias);
    EXPECT_EQ(one.dh0, two.dh0);
  }
}

}  // namespace
}  // namespace plimsoll

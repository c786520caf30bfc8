#include "device/cpu/optimizer_kernels.h"

#include "device/cpu/embedding_kernels.h"
#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

template <class T>
class Optimizer : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Optimizer, Floats);

template <class T>
struct Weights {
  std::vector<T> w, m, v;
  explicit Weights(size_t n)
      : w(random_values<T>(n, 1)), m(random_values<T>(n, 2)), v(random_values<T>(n, 3, 0, 1)) {}
  AdamArgs in_place(const T* grad, int64_t step) {
    return {w.data(), grad, m.data(), v.data(), 0.01, step, w.data(), m.data(), v.data()};
  }
  bool operator==(const Weights&) const = default;
};

TYPED_TEST(Optimizer, AdamMatchesKerasFormula) {
  using T = TypeParam;
  for_each_target([] {
    for (const double decay : {0.0, 0.1}) {
      const size_t n = 37;
      Weights<T> a(n);
      const Weights<T> before = a;
      const auto g = random_values<T>(n, 4);
      adam_step({kDType<T>, kDType<T>}, {0.9, 0.99, 1e-7, decay}, a.in_place(g.data(), 2), n, 2);
      std::vector<double> w(n), m(n), v(n);
      const double alpha = 0.01 * std::sqrt(1 - std::pow(0.99, 3)) / (1 - std::pow(0.9, 3));
      for (size_t i = 0; i < n; ++i) {
        const double grad = static_cast<double>(g[i]);
        m[i] = static_cast<double>(before.m[i]) * 0.9 + grad * (1 - 0.9);
        v[i] = static_cast<double>(before.v[i]) * 0.99 + grad * grad * (1 - 0.99);
        w[i] =
            static_cast<double>(before.w[i]) * (1 - decay * 0.01) - m[i] * alpha / (std::sqrt(v[i]) + 1e-7);
      }
      expect_close(a.w, w);
      expect_close(a.m, m);
      expect_close(a.v, v);
    }
  });
}

TYPED_TEST(Optimizer, AdamDoesNotDependOnThreads) {
  using T = TypeParam;
  const size_t n = 100003;
  Weights<T> one(n), two(n);
  const auto g = random_values<T>(n, 4);
  adam_step({kDType<T>, kDType<T>}, {}, one.in_place(g.data(), 0), n, 1);
  adam_step({kDType<T>, kDType<T>}, {}, two.in_place(g.data(), 0), n, 2);
  EXPECT_TRUE(one == two);
}

// Several steps, as a row may have a gradient in one and none in the next.
template <class T>
void rows_equal_dense(double weight_decay, bool in_place, int threads) {
  const int64_t rows = 1000, width = 19, count = 57;
  Weights<T> dense(static_cast<size_t>(rows * width)), sparse = dense;
  for (auto* slot : {&dense.m, &dense.v, &sparse.m, &sparse.v}) std::fill(slot->begin(), slot->end(), T{0});
  const AdamRule rule{0.9, 0.999, 1e-7, weight_decay};
  for (int64_t step = 0; step < 3; ++step) {
    std::vector<int32_t> indices(count);
    for (int64_t i = 0; i < count; ++i)
      indices[static_cast<size_t>(i)] = static_cast<int32_t>((i * i + step * 31) % 301 - 40);
    const auto g = random_values<T>(static_cast<size_t>(count * width), static_cast<uint32_t>(step));
    std::vector<T> table(static_cast<size_t>(rows * width));
    embedding_backward({kDType<T>, rows, width, DType::i32, count}, indices.data(), g.data(), table.data(),
                       nullptr, 1);
    adam_step({kDType<T>, kDType<T>}, rule, dense.in_place(table.data(), step), rows * width, 1);
    const RowGradient rg{DType::i32, indices.data(), count, rows, width};
    std::vector<char> scratch(static_cast<size_t>(adam_rows_scratch(kDType<T>, rg, threads)));
    Weights<T> out(static_cast<size_t>(rows * width));
    AdamArgs args = sparse.in_place(g.data(), step);
    if (!in_place) args.w_out = out.w.data(), args.m_out = out.m.data(), args.v_out = out.v.data();
    adam_rows_step({kDType<T>, kDType<T>}, rule, args, rg, scratch.data(), threads);
    if (!in_place) sparse = out;
    ASSERT_TRUE(dense == sparse) << "step " << step;
  }
}

TYPED_TEST(Optimizer, AdamByRowsGivesTheBitsOfDenseAdam) {
  for_each_target([] {
    rows_equal_dense<TypeParam>(0, true, 1);
    rows_equal_dense<TypeParam>(0, true, 2);
    rows_equal_dense<TypeParam>(0, false, 2);
    rows_equal_dense<TypeParam>(0.01, true, 2);
  });
}

TYPED_TEST(Optimizer, SgdMatchesKerasFormula) {
  using T = TypeParam;
  for_each_target([] {
    const size_t n = 29;
    for (const int mode : {0, 1, 2}) {
      const auto w = random_values<T>(n, 1), g = random_values<T>(n, 2), vel = random_values<T>(n, 3);
      std::vector<T> w_out(n), vel_out(n);
      const double momentum = mode == 0 ? 0 : 0.9;
      sgd_step({kDType<T>, kDType<T>}, momentum, mode == 2,
               {w.data(), g.data(), mode == 0 ? nullptr : vel.data(), 0.1, w_out.data(), vel_out.data()}, n,
               1);
      std::vector<double> ew(n), ev(n);
      for (size_t i = 0; i < n; ++i) {
        const double step = 0.1 * static_cast<double>(g[i]);
        ev[i] = mode == 0 ? 0 : momentum * static_cast<double>(vel[i]) - step;
        ew[i] = static_cast<double>(w[i]) + (mode == 0 ? -step : mode == 1 ? ev[i] : momentum * ev[i] - step);
      }
      expect_close(w_out, ew);
      if (mode != 0) expect_close(vel_out, ev);
    }
  });
}

TYPED_TEST(Optimizer, RmspropMatchesKerasFormula) {
  using T = TypeParam;
  for_each_target([] {
    const size_t n = 29;
    for (const double momentum : {0.0, 0.9}) {
      const auto w = random_values<T>(n, 1), g = random_values<T>(n, 2), vel = random_values<T>(n, 3, 0, 1),
                 mom = random_values<T>(n, 4);
      std::vector<T> w_out(n), vel_out(n), mom_out(n);
      rmsprop_step({kDType<T>, kDType<T>}, 0.9, momentum, 1e-7,
                   {w.data(), g.data(), vel.data(), momentum > 0 ? mom.data() : nullptr, 0.1, w_out.data(),
                    vel_out.data(), mom_out.data()},
                   n, 1);
      std::vector<double> ew(n), ev(n);
      for (size_t i = 0; i < n; ++i) {
        const double grad = static_cast<double>(g[i]);
        ev[i] = 0.9 * static_cast<double>(vel[i]) + (1 - 0.9) * grad * grad;
        ew[i] = static_cast<double>(w[i]) - 0.1 * grad / std::sqrt(ev[i] + 1e-7) -
                momentum * static_cast<double>(mom[i]);
      }
      expect_close(w_out, ew);
      expect_close(vel_out, ev);
    }
  });
}

}  // namespace
}  // namespace plimsoll

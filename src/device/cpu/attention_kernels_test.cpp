#include "device/cpu/attention_kernels.h"

#include <hwy/aligned_allocator.h>

#include "device/cpu/kernel_testing.h"

namespace plimsoll {
namespace {

using namespace testing_kernels;

size_t z(int64_t n) { return static_cast<size_t>(n); }

template <class T>
struct Run {
  AttentionSizes s;
  std::vector<T> q, k, v, bias, dy, y, lse, dq, dk, dv, dbias;

  explicit Run(const AttentionSizes& sizes) : s(sizes) {
    s.dtype = kDType<T>;
    const size_t nq = z(s.batch * s.queries * s.heads), nk = z(s.batch * s.keys * s.heads);
    q = random_values<T>(nq * z(s.width), 1);
    k = random_values<T>(nk * z(s.width), 2);
    v = random_values<T>(nk * z(s.value_width), 3);
    bias = random_values<T>(z(s.batch * s.heads * s.queries * s.keys), 4);
    dy = random_values<T>(nq * z(s.value_width), 5);
    const T stale = 7;  // what was there before counts for nothing
    y.resize(dy.size(), stale);
    lse.resize(nq, stale);
    dq.resize(q.size(), stale);
    dk.resize(k.size(), stale);
    dv.resize(v.size(), stale);
    dbias.resize(bias.size(), stale);
  }
  void operator()(int threads) {
    s.threads = threads;
    const auto f = hwy::AllocateAligned<char>(z(attention_forward_scratch(s)));
    attention_forward(s, {q.data(), k.data(), v.data(), bias.data(), y.data(), lse.data()}, f.get());
    const auto b = hwy::AllocateAligned<char>(z(attention_backward_scratch(s)));
    attention_backward(s,
                       {q.data(), k.data(), v.data(), bias.data(), y.data(), lse.data(), dy.data(), dq.data(),
                        dk.data(), dv.data(), s.bias ? dbias.data() : nullptr},
                       b.get());
  }
};

struct Expected {
  std::vector<double> y, dq, dk, dv, dbias;
};

// One query after the other, in double.
template <class T>
Expected reference(const Run<T>& a) {
  const AttentionSizes& s = a.s;
  Expected e{std::vector<double>(a.y.size()), std::vector<double>(a.q.size()),
             std::vector<double>(a.k.size()), std::vector<double>(a.v.size()),
             std::vector<double>(a.dbias.size())};
  const size_t w = z(s.width), vw = z(s.value_width);
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      for (int64_t i = 0; i < s.queries; ++i) {
        const size_t qi = z((b * s.queries + i) * s.heads + h);
        const int64_t n = s.causal ? std::min(s.keys, i + 1) : s.keys;
        std::vector<double> p(z(n)), dp(z(n));
        double top = -1e300, total = 0, mean = 0;
        const auto key = [&](int64_t j) { return z((b * s.keys + j) * s.heads + h); };
        for (int64_t j = 0; j < n; ++j) {
          double dot = 0;
          for (size_t c = 0; c < w; ++c)
            dot += static_cast<double>(a.q[qi * w + c]) * static_cast<double>(a.k[key(j) * w + c]);
          p[z(j)] = dot * s.scale;
          const int64_t at = b * s.bias_batch + h * s.bias_head + i * s.bias_query + j * s.bias_key;
          if (s.bias) p[z(j)] += static_cast<double>(a.bias[z(at)]);
          top = std::max(top, p[z(j)]);
        }
        for (double& x : p) total += x = std::exp(x - top);
        for (double& x : p) x /= total;
        for (int64_t j = 0; j < n; ++j) {
          for (size_t c = 0; c < vw; ++c) {
            const double value = static_cast<double>(a.v[key(j) * vw + c]),
                         up = static_cast<double>(a.dy[qi * vw + c]);
            e.y[qi * vw + c] += p[z(j)] * value;
            e.dv[key(j) * vw + c] += p[z(j)] * up;
            dp[z(j)] += up * value;
          }
          mean += p[z(j)] * dp[z(j)];
        }
        for (int64_t j = 0; j < n; ++j) {
          const double ds = p[z(j)] * (dp[z(j)] - mean);
          e.dbias[z(((b * s.heads + h) * s.queries + i) * s.keys + j)] = ds;
          for (size_t c = 0; c < w; ++c) {
            e.dq[qi * w + c] += ds * s.scale * static_cast<double>(a.k[key(j) * w + c]);
            e.dk[key(j) * w + c] += ds * s.scale * static_cast<double>(a.q[qi * w + c]);
          }
        }
      }
    }
  }
  return e;
}

AttentionSizes sizes(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t width,
                     int64_t values) {
  AttentionSizes s;
  s.batch = batch, s.heads = heads, s.queries = queries, s.keys = keys, s.width = width,
  s.value_width = values;
  s.scale = 1 / std::sqrt(static_cast<double>(width));
  return s;
}

template <class T>
void check(const AttentionSizes& s) {
  Run<T> run(s);
  run(2);
  const Expected e = reference(run);
  const double loose = 4 * kTolerance<T>;
  expect_close(run.y, e.y);
  expect_close(run.dq, e.dq, loose);
  expect_close(run.dk, e.dk, loose);
  expect_close(run.dv, e.dv, loose);
  if (s.bias) expect_close(run.dbias, e.dbias, loose);
}

template <class T>
class Attention : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Attention, Floats);

TYPED_TEST(Attention, MatchesDoubleReference) {
  for_each_target([] {
    for (const bool causal : {false, true}) {
      for (const AttentionSizes& one :
           {sizes(1, 1, 1, 1, 1, 1), sizes(2, 3, 7, 7, 5, 3), sizes(1, 2, 61, 53, 32, 16)}) {
        AttentionSizes s = one;
        s.causal = causal;
        check<TypeParam>(s);
      }
    }
  });
}

TYPED_TEST(Attention, BroadcastsTheBias) {
  for_each_target([] {
    for (int mask = 0; mask < 16; ++mask) {
      AttentionSizes s = sizes(2, 3, 5, 9, 4, 6);
      s.bias = true;
      s.scale = mask % 2 == 0 ? 0.7 : -0.7;
      s.causal = mask % 3 == 0;
      // Dense over the axes in the mask, size 1 in the others.
      int64_t stride = 1;
      if (mask & 1) s.bias_key = stride, stride *= s.keys;
      if (mask & 2) s.bias_query = stride, stride *= s.queries;
      if (mask & 4) s.bias_head = stride, stride *= s.heads;
      if (mask & 8) s.bias_batch = stride;
      check<TypeParam>(s);
    }
  });
}

// A mask that is added: -1e9 and less, and a query that sees nothing.
TYPED_TEST(Attention, QueriesThatSeeNothingSeeAllKeysAlike) {
  for_each_target([] {
    for (const double hidden : {-1e30, -3e38}) {
      AttentionSizes s = sizes(2, 3, 9, 13, 4, 6);
      s.bias = true;
      s.bias_key = 1, s.bias_query = s.keys, s.bias_head = s.keys * s.queries,
      s.bias_batch = s.heads * s.bias_head;
      Run<TypeParam> run(s);
      for (size_t i = 0; i < run.bias.size(); ++i) {
        const size_t key = i % z(s.keys), query = i / z(s.keys) % z(s.queries);
        if (query % 2 == 0 || key > 5) run.bias[i] = static_cast<TypeParam>(hidden);
      }
      run(2);
      const Expected e = reference(run);
      const double loose = 4 * kTolerance<TypeParam>;
      expect_close(run.y, e.y);
      expect_close(run.dq, e.dq, loose);
      expect_close(run.dk, e.dk, loose);
      expect_close(run.dv, e.dv, loose);
      expect_close(run.dbias, e.dbias, loose);
    }
  });
}

TYPED_TEST(Attention, ScaleOfZeroGivesEveryKeyTheSameShare) {
  for_each_target([] {
    AttentionSizes s = sizes(1, 2, 5, 11, 4, 6);
    s.scale = 0;
    check<TypeParam>(s);
  });
}

TYPED_TEST(Attention, KeysThatNoQuerySeesHaveGradientsOfZero) {
  for_each_target([] {
    for (const int64_t queries : {0, 3, 50}) {
      AttentionSizes s = sizes(2, 1, queries, 60, 4, 6);
      s.causal = true;
      check<TypeParam>(s);
      s.causal = false;
      check<TypeParam>(s);
    }
  });
}

TYPED_TEST(Attention, DoesNotDependOnThreads) {
  Run<TypeParam> one(sizes(3, 4, 50, 50, 16, 16)), two = one;
  one(1);
  two(2);
  EXPECT_EQ(one.y, two.y);
  EXPECT_EQ(one.dq, two.dq);
  EXPECT_EQ(one.dk, two.dk);
  EXPECT_EQ(one.dv, two.dv);
}

}  // namespace
}  // namespace plimsoll

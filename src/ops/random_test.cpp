#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "device/kernel.h"
#include "graph/op.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

Tensor key_of(uint32_t a, uint32_t b) {
  const uint32_t words[] = {a, b};
  return Tensor::from<uint32_t>(words, Shape{2});
}

// Runs one op's kernel on `threads` threads.
template <class T>
std::vector<T> draw(const char* name, const Tensor& key, int64_t n, Attrs attrs, DType dtype, int threads) {
  const OpDef& op = get_op(name);
  attrs.set("shape", Ints{n});
  attrs = complete_attrs(op, attrs);
  const TensorType in[] = {key.type()}, out[] = {{dtype, Shape{n}}};
  const Kernel kernel = op.kernels[0].prepare({in, out, attrs, threads});
  std::vector<T> values(static_cast<size_t>(n));
  void* args[] = {key.data(), values.data(), nullptr};
  kernel.run(kernel.state.get(), args);
  return values;
}

// From Random123's kat_vectors: counter 0, key 0.
TEST(Random, MatchesTheKnownAnswersOfPhilox) {
  const auto words = draw<uint32_t>("random_bits", key_of(0, 0), 4, {}, DType::u32, 1);
  EXPECT_EQ(words, (std::vector<uint32_t>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
}

// The other vectors have counters that no element reaches, so the rounds are written out here once more and
// checked with them; the kernel must agree with these rounds everywhere.
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, uint32_t k0, uint32_t k1) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t p = uint64_t{0xD2511F53u} * c[0], q = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(q >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

TEST(Random, EveryWordIsPhiloxOfItsBlock) {
  const uint32_t f = 0xffffffffu;
  EXPECT_EQ(philox({f, f, f, f}, f, f),
            (std::array<uint32_t, 4>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u),
            (std::array<uint32_t, 4>{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
  const auto words = draw<uint32_t>("random_bits", key_of(0xa4093822u, 0x299f31d0u), 1003, {}, DType::u32, 2);
  for (uint32_t i = 0; i < words.size(); ++i) {
    ASSERT_EQ(words[i], philox({i / 4, 0, 0, 0}, 0xa4093822u, 0x299f31d0u)[i % 4]) << i;
  }
}

TEST(Random, NormalsAreTheSameOnEveryTargetAndForEveryNumberOfThreads) {
  const Attrs attrs = {{"dtype", DType::f32}};
  const auto expected = draw<float>("random_normal", key_of(1, 2), 100001, attrs, DType::f32, 1);
  EXPECT_EQ(draw<float>("random_normal", key_of(1, 2), 100001, attrs, DType::f32, 2), expected);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_EQ(draw<float>("random_normal", key_of(1, 2), 100001, attrs, DType::f32, 1), expected)
        << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
void check_moments(const std::vector<T>& x, double mean, double variance) {
  const double n = static_cast<double>(x.size());
  const double m = std::accumulate(x.begin(), x.end(), 0.0) / n;
  double v = 0;
  for (const T e : x) v += (e - m) * (e - m);
  EXPECT_NEAR(m, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(v / n, variance, 10 * variance / std::sqrt(n));
}

TEST(Random, MomentsAreThoseOfTheDistributions) {
  const int64_t n = 200000;
  const Attrs normal32 = {{"dtype", DType::f32}, {"mean", 3.0}, {"stddev", 2.0}};
  const Attrs normal64 = {{"dtype", DType::f64}, {"mean", 3.0}, {"stddev", 2.0}};
  const Attrs uniform32 = {{"dtype", DType::f32}, {"low", -1.0}, {"high", 3.0}};
  const Attrs dice = {{"dtype", DType::i64}, {"low", 1.0}, {"high", 7.0}};
  check_moments(draw<float>("random_normal", key_of(5, 6), n, normal32, DType::f32, 2), 3, 4);
  check_moments(draw<double>("random_normal", key_of(5, 6), n, normal64, DType::f64, 2), 3, 4);
  check_moments(draw<float>("random_uniform", key_of(5, 6), n, uniform32, DType::f32, 2), 1, 16.0 / 12);
  const auto thrown = draw<int64_t>("random_uniform", key_of(5, 6), n, dice, DType::i64, 2);
  check_moments(thrown, 3.5, 35.0 / 12);
  EXPECT_EQ(*std::min_element(thrown.begin(), thrown.end()), 1);
  EXPECT_EQ(*std::max_element(thrown.begin(), thrown.end()), 6);
}

TEST(Random, UniformStaysBelowItsUpperBound) {
  const auto x = draw<float>("random_uniform", key_of(1, 1), 100000,
                             {{"dtype", DType::f32}, {"low", 1e7}, {"high", 1e7 + 1}}, DType::f32, 1);
  for (const float v : x) ASSERT_LT(v, 1e7f + 1);
}

}  // namespace
}  // namespace plimsoll

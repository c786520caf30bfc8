// A program that only reads its weights keeps them in its kernels' layout. Whatever changes them, and by
// whatever way, the next run must see it.
#include <gtest/gtest.h>

#include <tuple>

#include "memory/account.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "plimsoll/program.h"

namespace plimsoll {
namespace {

// A convolution for each kernel that keeps weights: oneDNN's, and Winograd's, which wants full panels.
struct Sizes {
  int64_t size, channels, filters;

  Shape x() const { return {2, size, size, channels}; }
  Shape y() const { return {2, size - 2, size - 2, filters}; }
  Shape weights() const { return {3, 3, channels, filters}; }
};
constexpr Sizes kOther{9, 16, 40}, kWinograd{12, 32, 64};

std::vector<float> values(const Tensor& t) {
  const float* p = static_cast<const float*>(read_bytes(t));
  return {p, p + t.shape().elements()};
}

Tensor ramp(const Shape& shape, float step) {
  std::vector<float> v(static_cast<size_t>(shape.elements()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = step * static_cast<float>(static_cast<int>(i * 7 % 23) - 11);
  return Tensor::from(std::span<const float>(v), shape);
}

// x -> conv(x, weights), beside the eager op, which packs them in every call.
class KeptWeights : public ::testing::TestWithParam<Sizes> {
 protected:
  static Program compile(const Tensor& weights) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, GetParam().x());
    g.output("y", conv(x, g.variable("w", weights)));
    return Program::compile(g);
  }
  std::vector<float> kept() { return values(kept_(std::span(&x_, 1))[0]); }
  std::vector<float> anew() { return values(conv(x_, weights_)); }

  // The weights have changed: the result is another one, and the right one, now and in the run after.
  void expect_seen(const std::vector<float>& before) {
    const std::vector<float> want = anew();
    EXPECT_NE(want, before);
    EXPECT_EQ(kept(), want);
    EXPECT_EQ(kept(), want);
  }

  Tensor x_ = ramp(GetParam().x(), 0.1f);
  Tensor weights_ = ramp(GetParam().weights(), 0.01f);
  Program kept_ = compile(weights_);
};

TEST_P(KeptWeights, SameResultAsPackedInEveryRun) {
  EXPECT_EQ(kept(), anew());
  EXPECT_EQ(kept(), anew());
}

TEST_P(KeptWeights, AreCountedAsWeightsWhileTheProgramLives) {
  const int64_t before = account::used(Owner::weights);
  {
    const Program program = compile(weights_);
    EXPECT_GE(account::used(Owner::weights) - before, weights_.shape().elements() * 4);
  }
  EXPECT_EQ(account::used(Owner::weights), before);
}

TEST_P(KeptWeights, SeesAnAssignment) {
  const std::vector<float> before = kept();
  assign(weights_, ramp(weights_.shape(), 0.02f));
  expect_seen(before);
}

TEST_P(KeptWeights, SeesBytesWrittenInPlaceEvenIfTheWriterFails) {
  const std::vector<float> before = kept();
  write_bytes(weights_, [](void* bytes) { static_cast<float*>(bytes)[3] = 70; });
  expect_seen(before);
  const auto half = [](void* bytes) {
    static_cast<float*>(bytes)[4] = 80;
    fail(ErrorKind::io, "test", "the file ends here");
  };
  EXPECT_THROW(write_bytes(weights_, half), Error);
  expect_seen(before);
}

TEST_P(KeptWeights, SeesWritesThroughAPointer) {
  const std::vector<float> before = kept();
  weights_.data<float>()[5] = 100;
  expect_seen(before);
}

TEST_P(KeptWeights, SeesWritesThroughAPointerThatWasTakenBefore) {
  float* const pointer = weights_.data<float>();
  std::vector<float> before = kept();
  for (int i = 0; i < 3; ++i) {
    pointer[i] += 50;
    expect_seen(before);
    before = kept();
  }
}

TEST_P(KeptWeights, SeesTheUpdateOfAnotherProgram) {
  Graph g;
  const Tensor w = g.variable("w", weights_);
  g.update(w, w * 2.0);
  Program step = Program::compile(g);
  std::vector<float> before = kept();
  for (int i = 0; i < 3; ++i) {
    step({});
    expect_seen(before);
    before = kept();
  }
}

TEST_P(KeptWeights, SeesAnOutputWrittenOverThem) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, weights_.shape());
  g.output("y", x * 3.0);
  Program scale = Program::compile(g);
  const std::vector<float> before = kept();
  const Tensor in = weights_.copy();
  scale.run(std::span(&in, 1), std::span(&weights_, 1));
  expect_seen(before);
}

TEST_P(KeptWeights, AProgramThatWritesThemKeepsNothing) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, GetParam().x());
  const Tensor w = g.variable("w", weights_);
  g.output("y", conv(x, w));
  g.update(w, w * 0.5);
  const int64_t before = account::used(Owner::weights);
  const Program step = Program::compile(g);
  EXPECT_EQ(account::used(Owner::weights), before);
}

TEST_P(KeptWeights, TakeNothingUnderALine) {
  const int64_t before = account::used(Owner::weights);
  account::set_limit(int64_t{1} << 40);
  Program program = compile(weights_);
  account::set_limit(account::kNoLimit);
  EXPECT_EQ(account::used(Owner::weights), before);
  EXPECT_EQ(values(program(std::span(&x_, 1))[0]), anew());
}

TEST_P(KeptWeights, AreGivenUpWhenTheAccountRefuses) {
  const int64_t charges = account::charges();
  account::fail_nth_charge(1);
  Program poor = compile(weights_);
  account::fail_nth_charge(0);
  EXPECT_GT(account::charges(), charges);
  EXPECT_EQ(values(poor(std::span(&x_, 1))[0]), anew());
}

#if PLIMSOLL_HAVE_ONEDNN
INSTANTIATE_TEST_SUITE_P(Onednn, KeptWeights, ::testing::Values(kOther));
#endif
INSTANTIATE_TEST_SUITE_P(Winograd, KeptWeights, ::testing::Values(kWinograd));

// relu(conv(x, w) * scale + shift + residual) in one kernel: the scale lies in the kept weights, the sums
// start from the residual, whose bytes are the result's own or, where they are an input of the program, a
// copy.
class ScaledWeights : public ::testing::TestWithParam<std::tuple<Sizes, bool>> {
 protected:
  Program compile(bool passes) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, x_.shape()), r = g.input("r", DType::f32, residual_.shape());
    const Tensor scale = g.variable("s", scale_), shift = g.variable("b", shift_);
    const Tensor y = conv(x, g.variable("w", weights_)) * scale + shift;
    g.output("y", relu(y + (std::get<bool>(GetParam()) ? r : exp(r))));
    CompileOptions options;
    if (!passes) options.skip_passes = {"all"};
    return Program::compile(g, options);
  }
  void expect_right(Program& program) {
    const std::vector<Tensor> in = {x_, residual_};
    const std::vector<float> got = values(program(in)[0]), want = values(compile(false)(in)[0]);
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4) << i;
  }

  const Sizes sizes_ = std::get<Sizes>(GetParam());
  Tensor x_ = ramp(sizes_.x(), 0.1f), residual_ = ramp(sizes_.y(), 0.3f);
  Tensor weights_ = ramp(sizes_.weights(), 0.01f);
  Tensor scale_ = ramp({sizes_.filters}, 0.2f), shift_ = ramp({sizes_.filters}, 0.5f);
};

TEST_P(ScaledWeights, SeeANewScaleAndNewWeights) {
  Program program = compile(true);
  EXPECT_NE(program.text().find("conv_bias"), std::string::npos);
  for (int i = 1; i <= 2; ++i) {
    expect_right(program);
    expect_right(program);
    assign(scale_, ramp(scale_.shape(), 0.2f + 0.1f * static_cast<float>(i)));
    expect_right(program);
    assign(weights_, ramp(weights_.shape(), 0.01f + 0.01f * static_cast<float>(i)));
    expect_right(program);
  }
}

TEST_P(ScaledWeights, GiveTheSameBitsUnderALine) {
  const std::vector<Tensor> in = {x_, residual_};
  const std::vector<float> free = values(compile(true)(in)[0]);
  account::set_limit(int64_t{1} << 40);
  Program bound = compile(true);
  account::set_limit(account::kNoLimit);
  EXPECT_EQ(values(bound(in)[0]), free);
}

INSTANTIATE_TEST_SUITE_P(ResidualIsAnInput, ScaledWeights,
                         ::testing::Combine(::testing::Values(kOther, kWinograd), ::testing::Bool()));

TEST(Contents, AssignRefusesAnotherType) {
  const Tensor t = Tensor::zeros(DType::f32, {2});
  EXPECT_THROW(assign(t, Tensor::zeros(DType::f32, {3})), Error);
  EXPECT_THROW(assign(t, Tensor::zeros(DType::f64, {2})), Error);
  EXPECT_THROW(assign(Tensor(), Tensor()), Error);
}

}  // namespace
}  // namespace plimsoll

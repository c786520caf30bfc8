#include "plimsoll/program.h"

#include <gtest/gtest.h>

#include "memory/account.h"
#include "memory/arena.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

std::vector<float> values(const Tensor& t) {
  const float* p = t.data<float>();
  return {p, p + t.shape().elements()};
}

TEST(Program, UpdatesVariablesInPlace) {
  Graph g;
  const Tensor storage = Tensor::full(DType::f32, {3}, 1.0);
  const Tensor v = g.variable("v", storage);
  const Tensor x = g.input("x", DType::f32, {3});
  g.update(v, v + x);
  Program p = Program::compile(g);
  const Tensor in = Tensor::full(DType::f32, {3}, 2.0);
  p(std::span(&in, 1));
  p(std::span(&in, 1));
  EXPECT_EQ(values(storage), (std::vector<float>{5, 5, 5}));
}

TEST(Program, AnOutputOfTheOldValueIsNotOverwrittenByTheUpdate) {
  Graph g;
  const Tensor storage = Tensor::full(DType::f32, {2}, 1.0);
  const Tensor v = g.variable("v", storage);
  g.update(v, v * 10.0);
  g.output("old", v);
  g.output("shifted", v + 1.0);
  Program p = Program::compile(g);
  const std::vector<Tensor> out = p({});
  EXPECT_EQ(values(out[0]), (std::vector<float>{1, 1}));
  EXPECT_EQ(values(out[1]), (std::vector<float>{2, 2}));
  EXPECT_EQ(values(storage), (std::vector<float>{10, 10}));
}

TEST(Program, SwappedVariablesComeOutSwapped) {
  Graph g;
  const Tensor a = Tensor::full(DType::f32, {2}, 1.0), b = Tensor::full(DType::f32, {2}, 2.0);
  const Tensor va = g.variable("a", a), vb = g.variable("b", b);
  g.update(va, vb);
  g.update(vb, va);
  Program::compile(g)({});
  EXPECT_EQ(values(a), (std::vector<float>{2, 2}));
  EXPECT_EQ(values(b), (std::vector<float>{1, 1}));
}

TEST(Program, RefusesAnOutputInBytesThatAreStillRead) {
  Graph g;
  const Tensor storage = Tensor::zeros(DType::f32, {2});
  const Tensor x = g.input("x", DType::f32, {2});
  g.output("a", x + g.variable("v", storage));
  g.output("b", x * 2.0);
  Program p = Program::compile(g);
  const Tensor in = Tensor::full(DType::f32, {2}, 3.0);
  const Tensor other = Tensor::zeros(DType::f32, {2});
  for (const Tensor& bad : {in, storage, other}) {
    std::vector<Tensor> out = {other, bad};
    EXPECT_THROW(p.run(std::span(&in, 1), out), Error);
  }
  EXPECT_EQ(values(in), (std::vector<float>{3, 3}));
  std::vector<Tensor> out = {other, Tensor()};
  p.run(std::span(&in, 1), out);
  EXPECT_EQ(values(other), (std::vector<float>{3, 3}));
}

TEST(Program, InputsAndConstantsMayBeOutputs) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {2});
  g.output("x", x);
  g.output("again", reshape(x, Shape{2, 1}));
  g.output("c", g.constant(Tensor::full(DType::f32, {1}, 7)));
  const Tensor in = Tensor::full(DType::f32, {2}, 3);
  const auto out = Program::compile(g)(std::span(&in, 1));
  EXPECT_EQ(values(out[0]), (std::vector<float>{3, 3}));
  EXPECT_EQ(values(out[1]), (std::vector<float>{3, 3}));
  EXPECT_EQ(values(out[2]), (std::vector<float>{7}));
}

TEST(Program, RefusesWrongInputsAndChangesNothing) {
  Graph g;
  const Tensor storage = Tensor::full(DType::f32, {2}, 1.0);
  const Tensor v = g.variable("v", storage);
  g.update(v, v + g.input("x", DType::f32, {2}));
  Program p = Program::compile(g);
  const Tensor wrong = Tensor::full(DType::f32, {3}, 1);
  EXPECT_THROW(p(std::span(&wrong, 1)), Error);
  EXPECT_THROW(p({}), Error);
  EXPECT_EQ(values(storage), (std::vector<float>{1, 1}));
}

TEST(Program, ProgramsOfAModelShareOneArena) {
  const auto arena = std::make_shared<Arena>();
  std::vector<Program> programs;
  for (const int64_t n : {1000, 100000, 10}) {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {n});
    g.output("y", sum(cumsum(exp(x), 0) * 0.5));
    CompileOptions options;
    options.arena = arena;
    programs.push_back(Program::compile(g, options));
  }
  for (size_t i = 0; i < 3; ++i) {
    const int64_t n = i == 0 ? 1000 : i == 1 ? 100000 : 10;
    const Tensor in = Tensor::zeros(DType::f32, {n});
    EXPECT_NEAR(programs[i](std::span(&in, 1))[0].item() / (0.25 * n * (n + 1)), 1.0, 1e-5);
  }
}

TEST(Program, ALineTooLowIsAnErrorBeforeTheFirstRun) {
  Graph g;
  const Tensor x = g.input("x", DType::f32, {1 << 20});
  g.output("y", sum(cumsum(x, 0)));
  account::set_limit(1000);  // whatever is kept ready and can go: not even the arena fits
  EXPECT_THROW(Program::compile(g), Error);
  account::set_limit(account::kNoLimit);
  EXPECT_NO_THROW(Program::compile(g));
}

// A chain of layers, with its gradient.
Graph deep(int layers, const Tensor& weight) {
  Graph g;
  Tensor x = g.input("x", DType::f32, {512, 64});
  const Tensor w = g.variable("w", weight);
  Tensor y = x;
  for (int i = 0; i < layers; ++i) y = tanh(matmul(y, w));
  const Tensor loss = sum(y * y);
  g.output("loss", loss);
  const std::vector<Tensor> of = {w};
  g.update(w, w - 0.01 * gradients(loss, of)[0]);
  return g;
}

// What was found under a line is what is made, without looking for it again.
TEST(Program, ARecipeIsMadeAsItWasForecast) {
  const Tensor weight = Tensor::full(DType::f32, {64, 64}, 0.01);
  const Graph g = deep(12, weight);
  for (const bool parts : {false, true}) {
    CompileOptions options;
    options.micro_batch = parts;
    options.memory = 0;
    options.memory = Program::forecast(g, options).arena;
    const MemoryReport f = Program::forecast(g, options);
    ASSERT_TRUE(f.fits);
    EXPECT_EQ(f.parts > 1, parts);
    EXPECT_GT(f.parts + f.again, 1);
    options.recipe = f.recipe;
    options.memory = 0;
    Program made = Program::compile(g, options);
    EXPECT_EQ(made.memory().arena, f.arena);
    EXPECT_EQ(made.memory().program, f.program);
    EXPECT_EQ(made.memory().extra_seconds, f.extra_seconds);
    const Tensor x = Tensor::full(DType::f32, {512, 64}, 0.5);
    const float want =
        values(Program::compile(deep(12, Tensor::full(DType::f32, {64, 64}, 0.01)))({&x, 1})[0])[0];
    EXPECT_FLOAT_EQ(
        values(Program::compile(deep(12, Tensor::full(DType::f32, {64, 64}, 0.01)), options)({&x, 1})[0])[0],
        want);
  }
}

TEST(Program, ARecipeOfAnotherGraphIsRefused) {
  const Tensor weight = Tensor::full(DType::f32, {64, 64}, 0.01);
  const Graph g = deep(12, weight), other = deep(5, weight), more = deep(20, weight);
  CompileOptions options;
  options.memory = Program::forecast(g).arena / 2;
  options.recipe = Program::forecast(g, options).recipe;
  EXPECT_THROW((void)Program::compile(other, options), Error);
  EXPECT_THROW((void)Program::compile(more, options), Error);
}

TEST(Program, FloatsTooSmallCountAsZeroInsideAndStayOutside) {
  volatile float tiny = 1e-40f;
  Graph g;
  const Tensor x = g.input("x", DType::f32, {100000});
  g.output("y", x * 0.5);
  const Tensor in = Tensor::full(DType::f32, {100000}, 1e-40);
  const Tensor y = Program::compile(g)(std::span(&in, 1))[0];
  for (int64_t i = 0; i < 100000; ++i) ASSERT_EQ(y.data<float>()[i], 0.0f) << i;  // whichever thread made it
  EXPECT_EQ((in * 0.5).data<float>()[7], 0.0f);
  EXPECT_GT(tiny * 0.5f, 0.0f);
}

TEST(Eager, GivesWhatAProgramGives) {
  const Tensor a = Tensor::full(DType::f32, {2, 3}, 2), b = Tensor::full(DType::f32, {3}, 3);
  EXPECT_EQ(values(a * b + 1.0), (std::vector<float>(6, 7)));
  EXPECT_EQ(sum(a).item(), 12);
}

TEST(Eager, AFailedCallIsForgotten) {
  const Tensor a = Tensor::full(DType::f32, {2}, 2), b = Tensor::full(DType::f32, {3}, 3);
  EXPECT_THROW(add(a, b), Error);
  EXPECT_THROW(add(a, b), Error);
}

}  // namespace
}  // namespace plimsoll

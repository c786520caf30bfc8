// What crosses the bus: inputs once per run, variables once, results when somebody reads them.
#include <array>
#include <cmath>
#include <thread>

#include "device_plugin/interpreter.h"
#include "memory/account.h"
#include "models/models.h"
#include "plimsoll/contents.h"
#include "plimsoll/ops.h"
#include "support/compare.h"

namespace plimsoll::testing {
namespace {

using models::Weights;

int64_t bytes_of(const Tensor& t) { return byte_size(t.dtype(), t.shape()); }
int64_t bytes_of(const std::vector<Tensor>& list) {
  int64_t sum = 0;
  for (const Tensor& t : list) sum += bytes_of(t);
  return sum;
}
int64_t bytes_of(const Weights& weights) {
  int64_t sum = 0;
  for (const models::Weight& w : weights.all()) sum += bytes_of(w.storage);
  return sum;
}

struct Trained {
  const models::Model& model = models::get_model("parity_mlp");
  Weights weights;
  std::shared_ptr<Device> device = open_interpreter();
  Program program = Program::compile(models::train_graph(model, weights, model.batch), on(device));
  std::vector<Tensor> batch = models::sample_batch(model, model.batch);
  std::vector<Tensor> outputs{Tensor()};
};

TEST(Residency, VariablesNeverComeBackUnlessTheyAreRead) {
  Trained t;
  t.program.run(t.batch, t.outputs);
  t.device->sync();
  const DeviceCounters first = counters(*t.device);
  EXPECT_GE(first.bytes_in, bytes_of(t.weights) + bytes_of(t.batch));
  EXPECT_EQ(first.copies_out, 0);
  constexpr int kRuns = 20;
  for (int i = 0; i < kRuns; ++i) t.program.run(t.batch, t.outputs);
  t.device->sync();
  const DeviceCounters then = counters(*t.device);
  EXPECT_EQ(then.runs, first.runs + kRuns);
  EXPECT_EQ(then.copies_out, 0) << "nobody has read anything";
  EXPECT_EQ(then.bytes_in - first.bytes_in, kRuns * bytes_of(t.batch)) << "inputs, and nothing else";
}

TEST(Residency, AResultIsFetchedOnceAndAVariableByItself) {
  Trained t;
  t.program.run(t.batch, t.outputs);
  (void)read_bytes(t.outputs[0]);
  (void)read_bytes(t.outputs[0]);
  EXPECT_EQ(counters(*t.device).copies_out, 1);
  EXPECT_EQ(counters(*t.device).bytes_out, 4);
  const Tensor& kernel = t.weights.all()[0].storage;
  (void)read_bytes(kernel);
  EXPECT_EQ(counters(*t.device).copies_out, 2);
  EXPECT_EQ(counters(*t.device).bytes_out, 4 + bytes_of(kernel));
  const int64_t before = counters(*t.device).bytes_in;
  t.program.run(t.batch, t.outputs);
  t.device->sync();
  EXPECT_EQ(counters(*t.device).bytes_in - before, bytes_of(t.batch)) << "to read is not to write";
}

TEST(Residency, WhatTheHostWritesGoesToTheDeviceOnce) {
  Trained t;
  t.program.run(t.batch, t.outputs);
  const Tensor& kernel = t.weights.all()[0].storage;
  assign(kernel, Tensor::zeros(kernel.dtype(), kernel.shape()));
  t.device->sync();
  const int64_t before = counters(*t.device).bytes_in;
  for (int i = 0; i < 3; ++i) t.program.run(t.batch, t.outputs);
  t.device->sync();
  EXPECT_EQ(counters(*t.device).bytes_in - before, 3 * bytes_of(t.batch) + bytes_of(kernel));
}

TEST(Residency, TrainingAndPredictingShareVariablesAndOneArena) {
  const models::Model& model = models::get_model("parity_cnn");
  Weights weights, ours;
  const auto device = open_interpreter();
  const int64_t empty = device->memory().free;
  {
    Program train = Program::compile(models::train_graph(model, weights, model.batch), on(device));
    Program predict = Program::compile(models::predict_graph(model, weights, 4), on(device));
    EXPECT_EQ(device->arena_bytes(), std::max(train.memory().arena, predict.memory().arena));
    Program cpu_train = Program::compile(models::train_graph(model, ours, model.batch));
    Program cpu_predict = Program::compile(models::predict_graph(model, ours, 4));
    std::vector<Tensor> loss(1), cpu_loss(1);
    const std::vector<Tensor> x = {models::sample_batch(model, 4)[0]};
    int64_t bytes_in = 0;
    for (uint64_t step = 0; step < 4; ++step) {
      const std::vector<Tensor> batch = models::sample_batch(model, model.batch, step);
      train.run(batch, loss);
      cpu_train.run(batch, cpu_loss);
      const std::vector<Tensor> p = predict(x), want = cpu_predict(x);
      EXPECT_EQ(difference(p[0], want[0], 1e-3), "") << "after step " << step;
      const int64_t now = counters(*device).bytes_in;
      if (step > 0) {
        EXPECT_EQ(now - bytes_in, bytes_of(batch) + bytes_of(x)) << "no weight was copied again";
      }
      bytes_in = now;
    }
    EXPECT_EQ(counters(*device).copies_out, 4) << "the probabilities";
  }
  EXPECT_EQ(device->arena_bytes(), 0) << "Programs give the arena back";
  EXPECT_LE(empty - device->memory().free, 2 * bytes_of(weights) + (1 << 12)) << "what is left are variables";
}

TEST(Residency, AVariableGoesFromTheDeviceToTheCpuAndBack) {
  const models::Model& model = models::get_model("parity_mlp");
  Weights weights, ours;
  const auto device = open_interpreter();
  Program on_device = Program::compile(models::train_graph(model, weights, model.batch), on(device));
  Program on_cpu = Program::compile(models::train_graph(model, weights, model.batch));
  Program cpu = Program::compile(models::train_graph(model, ours, model.batch));
  std::vector<Tensor> loss(1), want(1);
  for (uint64_t step = 0; step < 6; ++step) {
    const std::vector<Tensor> batch = models::sample_batch(model, model.batch, step);
    (step % 2 == 0 ? on_device : on_cpu).run(batch, loss);
    cpu.run(batch, want);
    EXPECT_NEAR(loss[0].item(), want[0].item(), 1e-4) << "step " << step;
  }
}

// What one run leaves on the device is the next one's input: nothing crosses the bus in between.
TEST(Residency, AResultThatIsTheNextInputStaysThere) {
  const auto device = open_interpreter();
  Graph graph;
  graph.output("y", graph.input("x", DType::f32, {1000}) * 2.0);
  Program program = Program::compile(graph, on(device));
  Tensor x = Tensor::full(DType::f32, {1000}, 1);
  for (int i = 0; i < 10; ++i) x = program(std::array{x})[0];
  EXPECT_EQ(static_cast<const float*>(read_bytes(x))[999], 1024);
  EXPECT_EQ(counters(*device).bytes_in, 4000 + 4) << "the first input and the constant";
  EXPECT_EQ(counters(*device).bytes_out, 4000);
}

// Somebody who holds a pointer sees every step and is seen by it.
TEST(Residency, AVariableWhosePointerIsHeldIsCopiedBothWays) {
  const auto device = open_interpreter();
  const Tensor w = Tensor::full(DType::f32, {3}, 1);
  float* const held = w.data<float>();
  Graph graph;
  const Tensor v = graph.variable("w", w);
  graph.update(v, v + 1.0);
  graph.output("sum", sum(v));
  Program program = Program::compile(graph, on(device));
  EXPECT_EQ(program({})[0].item(), 3);
  EXPECT_EQ(held[2], 2);
  held[0] = 10;
  EXPECT_EQ(program({})[0].item(), 14);
  EXPECT_EQ(held[0], 11);
}

TEST(Residency, GivenOutputsAreWritten) {
  const auto device = open_interpreter();
  Graph graph;
  graph.output("y", exp(graph.input("x", DType::f32, {3})));
  Program program = Program::compile(graph, on(device));
  std::vector<Tensor> out = {Tensor::full(DType::f32, {3}, 7)};
  const Tensor same = out[0];
  program.run(std::array{Tensor::zeros(DType::f32, {3})}, out);
  EXPECT_EQ(static_cast<const float*>(read_bytes(same))[1], 1);
  program.run(std::array{Tensor::full(DType::f32, {3}, -INFINITY)}, out);
  EXPECT_EQ(static_cast<const float*>(read_bytes(same))[1], 0);
}

TEST(Residency, TensorsWithoutElementsPass) {
  const auto device = open_interpreter("fuse_folds");
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {0, 3});
  graph.output("y", exp(x) + 1.0);
  graph.output("sum", sum(x, {0}));
  Program program = Program::compile(graph, on(device));
  const std::vector<Tensor> out = program(std::array{Tensor::zeros(DType::f32, {0, 3})});
  EXPECT_EQ(out[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(static_cast<const float*>(read_bytes(out[1]))[2], 0);
}

// Runs that wait in the queue keep their inputs, though the host has gone on: none may be overwritten.
TEST(Residency, ManyRunsAreUnderWayAtOnce) {
  const auto device = open_interpreter("slow=2000");
  const Tensor w = Tensor::zeros(DType::f32, {});
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {1000});
  const Tensor v = graph.variable("w", w);
  graph.update(v, v + sum(x));
  graph.output("y", x + v);
  Program program = Program::compile(graph, on(device));
  std::vector<Tensor> results;
  for (int i = 0; i < 12; ++i) {
    Tensor input = Tensor::full(DType::f32, {1000}, i);
    results.push_back(program(std::array{input})[0]);
    assign(input, Tensor::full(DType::f32, {1000}, -1));  // it may change once run() has returned
  }
  float sum = 0;
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(static_cast<const float*>(read_bytes(results[static_cast<size_t>(i)]))[999],
              static_cast<float>(i) + sum);
    sum += 1000 * static_cast<float>(i);
  }
  EXPECT_EQ(*static_cast<const float*>(read_bytes(w)), sum);
}

// The first run cannot end before the input of the second has arrived: it must come on another stream, and
// into another place.
TEST(Residency, TheNextInputArrivesWhileARunIsUnderWay) {
  const auto device = open_interpreter("await_copies=2");
  Graph graph;
  graph.output("y", exp(graph.input("x", DType::f32, {3})));
  Program program = Program::compile(graph, on(device));
  const Tensor first = program(std::array{Tensor::zeros(DType::f32, {3})})[0];
  const Tensor second = program(std::array{Tensor::full(DType::f32, {3}, -INFINITY)})[0];
  EXPECT_EQ(static_cast<const float*>(read_bytes(first))[2], 1);
  EXPECT_EQ(static_cast<const float*>(read_bytes(second))[2], 0);
}

// More than the 8 MiB of the host that copies go through.
TEST(Residency, LargeInputsAreCopiedInParts) {
  const auto device = open_interpreter();
  const int64_t n = 5'000'001;
  Graph graph;
  graph.output("sum", sum(graph.input("x", DType::i64, {n})));
  Program program = Program::compile(graph, on(device));
  for (const int64_t k : {1, 3}) {
    const Tensor x = Tensor::empty(DType::i64, {n});
    write_bytes(x, [&](void* to) {
      for (int64_t i = 0; i < n; ++i) static_cast<int64_t*>(to)[i] = k * i;
    });
    const Tensor y = program(std::array{x})[0];
    EXPECT_EQ(account::used(Owner::staging), Device::kStaging) << "40 MB went through them";
    EXPECT_EQ(*static_cast<const int64_t*>(read_bytes(y)), k * (n * (n - 1) / 2));
  }
}

TEST(Residency, StepsAreNamedAndTimed) {
  Trained t;
  EXPECT_NE(t.program.text().find("interpreted dot_general"), std::string::npos) << t.program.text();
  const auto times = t.program.profile(t.batch, 2);
  ASSERT_EQ(times.size(), t.program.steps());
  for (const auto& [name, seconds] : times) EXPECT_GE(seconds, 0) << name;
}

// Both queue on the same two streams and share the arena.
TEST(Residency, TwoThreadsTrainOnOneDevice) {
  const models::Model& model = models::get_model("parity_mlp");
  const auto device = open_interpreter();
  std::array<double, 2> losses{};
  const auto train = [&](size_t i) {
    Weights weights(i + 1);
    Program program = Program::compile(models::train_graph(model, weights, model.batch), on(device));
    for (uint64_t step = 0; step < 20; ++step)
      losses[i] = program(models::sample_batch(model, model.batch, step))[0].item();
  };
  std::thread other([&] { train(1); });
  train(0);
  other.join();
  for (size_t i = 0; i < 2; ++i) {
    Weights weights(i + 1);
    Program program = Program::compile(models::train_graph(model, weights, model.batch));
    double want = 0;
    for (uint64_t step = 0; step < 20; ++step)
      want = program(models::sample_batch(model, model.batch, step))[0].item();
    EXPECT_NEAR(losses[i], want, 1e-4);
  }
}

}  // namespace
}  // namespace plimsoll::testing

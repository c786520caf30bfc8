// Whole Programs through the Device interface: a training step on a plug-in against the same step on the CPU,
// and what the executor asks of the null device.
#include "plimsoll/program.h"

#include <gtest/gtest.h>

#include <vector>

#include "device/device.h"
#include "graph/op.h"
#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/graph.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

// y = w * x + b, and one step of gradient descent on y * y by w and b. sgd_update is none of the plug-in's
// ops: it runs as its parts there.
struct Model {
  Tensor w = Tensor::from<float>(std::vector<float>{1, -2, 3}, {3});
  Tensor b = Tensor::from<float>(std::vector<float>{0.5, 0, -1}, {3});
  Graph graph;

  Model() {
    const Tensor x = graph.input("x", DType::f32, {3});
    const Tensor weights[] = {graph.variable("w", w), graph.variable("b", b)};
    const Tensor y = weights[0] * x + weights[1];
    const Tensor rate = graph.constant(Tensor::full(DType::f32, {}, 0.25));
    const std::vector<Tensor> grads =
        gradients(std::array{y * y}, weights, std::array{graph.constant(ones())});
    for (size_t i = 0; i < 2; ++i)
      graph.update(weights[i], apply1(get_op("sgd_update"), {weights[i], grads[i], rate}));
    graph.output("y", y);
    graph.output("x again", x);
  }
  static Tensor ones() { return Tensor::full(DType::f32, {3}, 1); }
};

std::vector<float> floats(const Tensor& t) {
  const float* data = static_cast<const float*>(t.data());
  return {data, data + t.shape().elements()};
}

CompileOptions on(std::shared_ptr<Device> device) {
  CompileOptions options;
  options.device = std::move(device);
  return options;
}

TEST(DeviceProgram, TrainsOnAPluginAsOnTheCpu) {
  Model ours, theirs;
  Program cpu = Program::compile(ours.graph);
  const auto device = load_device(TEST_PLUGIN);
  const int64_t before = device->memory().free;
  {
    Program plugin = Program::compile(theirs.graph, on(device));
    EXPECT_NE(plugin.text().find("[test kernel]"), std::string::npos) << plugin.text();
    for (float step = 1; step < 4; ++step) {
      const Tensor x = Tensor::from<float>(std::vector<float>{step, 2, -step}, {3});
      const std::vector<Tensor> expected = cpu(std::array{x}), got = plugin(std::array{x});
      EXPECT_EQ(floats(got[0]), floats(expected[0]));
      EXPECT_EQ(floats(got[1]), floats(x));
    }
    EXPECT_EQ(plugin.profile(std::array{Model::ones()}, 1).size(), plugin.steps());
    cpu.profile(std::array{Model::ones()}, 1);
  }
  EXPECT_EQ(floats(theirs.w), floats(ours.w));
  EXPECT_EQ(floats(theirs.b), floats(ours.b));
  EXPECT_EQ(device->memory().free, before) << "a Program gives its buffers back";
}

TEST(DeviceProgram, AnOpTheDeviceLacksIsAnErrorThatNamesBoth) {
  Graph graph;
  graph.output("y", sin(graph.input("x", DType::f32, {3})));
  try {
    Program::compile(graph, on(load_device(TEST_PLUGIN)));
    FAIL() << "nothing was said";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("[sin] no test kernel"), std::string::npos) << e.what();
  }
}

TEST(DeviceProgram, WhatDoesNotFitTheDeviceIsAnErrorAndTheVariablesStay) {
  Graph graph;
  const Tensor w = Tensor::zeros(DType::f32, {1 << 18});
  const Tensor v = graph.variable("w", w);
  graph.update(v, v + v);
  graph.output("y", v * v);
  const auto device = load_device(TEST_PLUGIN);
  const int64_t before = device->memory().free;
  try {
    Program::compile(graph, on(device));
    FAIL() << "nothing was said";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  }
  EXPECT_EQ(device->memory().free, before);
}

TEST(DeviceProgram, TheNullDeviceIsAskedForEveryStepOnce) {
  Model model;
  const auto device = device_null();
  Program program = Program::compile(model.graph, on(device));
  std::vector<Tensor> outputs(2);
  program.run(std::array{Model::ones()}, outputs);
  EXPECT_NE(device->describe().find(concat("null: ", program.steps(), " launches")), std::string::npos)
      << device->describe() << "\n"
      << program.text();
}

}  // namespace
}  // namespace plimsoll

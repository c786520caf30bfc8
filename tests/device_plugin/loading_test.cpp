// Which plug-ins are loaded: of this version, of one that had fewer functions, of one that has more.
#include "device_plugin/interpreter.h"
#include "graph/op.h"
#include "models/models.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing {
namespace {

// y = sum(exp(x) * 2), which needs a constant, an element-wise op and a reduction.
double run_something(const std::shared_ptr<Device>& device) {
  Graph graph;
  graph.output("y", sum(exp(graph.input("x", DType::f32, {3})) * 2.0));
  Program program = Program::compile(graph, on(device));
  return program(std::array{Tensor::full(DType::f32, {3}, 0)})[0].item();
}

TEST(DeviceLoading, ThePluginOfThisVersionRuns) {
  const auto device = open_interpreter();
  EXPECT_EQ(device->name(), "interpreter:0");
  EXPECT_EQ(run_something(device), 6);
}

// Its structs end before what 2.1 has added, and so does its table.
TEST(DeviceLoading, APluginBuiltWithTheFirstHeaderTrains) {
  const models::Model& model = models::get_model("parity_mlp");
  const auto losses = [&](const std::shared_ptr<Device>& device) {
    models::Weights weights;
    Program program = Program::compile(models::train_graph(model, weights, model.batch), on(device));
    std::vector<double> all;
    for (int step = 0; step < 5; ++step)
      all.push_back(program(models::sample_batch(model, model.batch))[0].item());
    return all;
  };
  const std::vector<double> got = losses(load_device(FIRST_PLUGIN));
  EXPECT_EQ(got, losses(open_interpreter()));
  EXPECT_LT(got.back(), got.front());
}

TEST(DeviceLoading, AnOlderPluginWithoutTheLastFunctionsRuns) {
  const auto device = load_device(OLDER_PLUGIN);
  EXPECT_EQ(run_something(device), 6);
  Graph graph;
  graph.output("y", exp(graph.input("x", DType::f32, {3})));
  Program program = Program::compile(graph, on(device));
  const Error e = error_of([&] { program.profile(std::array{Tensor::zeros(DType::f32, {3})}, 1); });
  EXPECT_EQ(e.kind(), ErrorKind::unsupported) << "it has no program_profile: " << e.what();
}

// Ops that it has are left whole, where it knows their attributes; others become their parts.
TEST(DeviceLoading, OpsWithPartsStayWholeWhereThePluginHasThem) {
  Graph graph;
  const Tensor x = graph.input("x", DType::f32, {2, 3}), w = graph.input("w", DType::f32, {3, 4}),
               b = graph.input("b", DType::f32, {4});
  for (const char* activation : {"relu", "sigmoid"})
    graph.output("", apply1(get_op("dense"), {x, w, b}, {{"activation", std::string(activation)}}));
  graph.output("", softmax(x));
  const auto whole = [&](const std::shared_ptr<Device>& device) {
    const std::string text = Program::compile(graph, on(device)).text();
    return std::array{text.find("interpreted softmax") != std::string::npos,
                      text.find("interpreted dense") != std::string::npos,
                      text.find("interpreted sigmoid") != std::string::npos};
  };
  EXPECT_EQ(whole(open_interpreter()), (std::array{false, false, true}));
  EXPECT_EQ(whole(open_interpreter("library")), (std::array{true, true, true}));
}

TEST(DeviceLoading, ANewerPluginWithMoreFunctionsRuns) {
  EXPECT_EQ(run_something(load_device(NEWER_PLUGIN)), 6);
}

TEST(DeviceLoading, APluginOfAnotherMajorVersionIsRefused) {
  for (const char* file : {FOREIGN_PLUGIN, STUBBORN_PLUGIN}) {
    const Error e = error_of([&] { load_device(file); });
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("expected version 2 of the device interface"), std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find(file), std::string::npos) << e.what();
  }
  EXPECT_NE(std::string(error_of([] { load_device(STUBBORN_PLUGIN); }).what()).find("99"), std::string::npos);
}

TEST(DeviceLoading, WhatIsNoPluginIsRefused) {
  EXPECT_EQ(error_of([] { load_device("/nowhere/device.so"); }).kind(), ErrorKind::not_found);
  EXPECT_EQ(error_of([] { load_device(NO_PLUGIN); }).kind(), ErrorKind::bad_file);
  EXPECT_EQ(error_of([] { load_device(STUNTED_PLUGIN); }).kind(), ErrorKind::bad_file)
      << "it lacks functions that every plug-in must have";
  EXPECT_EQ(error_of([] { load_device(INTERPRETER, 7); }).kind(), ErrorKind::unsupported);
  EXPECT_EQ(error_of([] { load_device(INTERPRETER, -1); }).kind(), ErrorKind::unsupported);
}

}  // namespace
}  // namespace plimsoll::testing

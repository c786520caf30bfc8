// What goes wrong on the device: late errors with their names, too little memory, a device that is lost.
#include <dlfcn.h>

#include <cmath>

#include "device_plugin/interpreter.h"
#include "models/models.h"
#include "plimsoll/contents.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing {
namespace {

using models::Weights;

const models::Model& model() { return models::get_model("parity_mlp"); }

struct Step {
  Weights weights;
  std::vector<Tensor> batch = models::sample_batch(model(), model().batch);
  std::vector<Tensor> outputs{Tensor()};
  Program program;

  explicit Step(const CompileOptions& options)
      : program(Program::compile(models::train_graph(model(), weights, model().batch), options)) {}
  void run() { program.run(batch, outputs); }
  double loss() { return outputs[0].item(); }
};

// The CPU trains on, whatever became of the device.
void expect_the_cpu_works() {
  Step step({});
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
}

int64_t nodes_of_a_step() {
  const auto device = open_interpreter();
  Step step(on(device));
  step.run();
  device->sync();
  return counters(*device).nodes;
}

TEST(DeviceFailure, IsReportedLateAndNamesLayerAndOp) {
  const auto device = open_interpreter("fail_at=2");
  Graph graph;
  graph.set_layer("encoder/dense_7");
  graph.output("y", tanh(exp(graph.input("x", DType::f32, {3}))));
  Program program = Program::compile(graph, on(device));
  std::vector<Tensor> out;
  EXPECT_NO_THROW(out = program(std::array{Tensor::zeros(DType::f32, {3})})) << "it only queues";
  const Error e = error_of([&] { (void)read_bytes(out[0]); });
  EXPECT_EQ(e.kind(), ErrorKind::device);
  EXPECT_STREQ(e.what(), "[interpreter:0 encoder/dense_7/tanh] the kernel met a bad address");
}

TEST(DeviceFailure, OfOneStepIsForgottenOnceItWasThrown) {
  const int64_t nodes = nodes_of_a_step();
  const auto device = open_interpreter(concat("fail_at=", nodes + nodes / 2));
  Step step(on(device));
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
  step.run();
  EXPECT_EQ(error_of([&] { step.loss(); }).kind(), ErrorKind::device);
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
}

// A failure inside the body of a loop names the node of the body.
TEST(DeviceFailure, InASubGraphIsNamedToo) {
  const auto device = open_interpreter("fail_at=3");
  Graph graph;
  graph.set_layer("recurrent");
  const std::vector<Tensor> carry = {graph.input("x", DType::f32, {3})};
  graph.output("y", scan(carry, {}, 5,
                         [](std::span<const Tensor> in) { return std::vector<Tensor>{tanh(in[0])}; })[0]);
  Program program = Program::compile(graph, on(device));
  const std::vector<Tensor> out = program(std::array{Tensor::zeros(DType::f32, {3})});
  const Error e = error_of([&] { (void)read_bytes(out[0]); });
  EXPECT_EQ(e.kind(), ErrorKind::device);
  EXPECT_NE(std::string(e.what()).find("tanh"), std::string::npos) << e.what();
}

TEST(DeviceFailure, AnOpWithoutCodeNamesOpAndDevice) {
  Graph graph;
  const Tensor x = graph.input("x", DType::c64, {2, 2});
  graph.output("y",
               apply1(get_op("dot_general"), {x, x}, {{"a_contract", Ints{1}}, {"b_contract", Ints{0}}}));
  const Error e = error_of([&] { Program::compile(graph, on(open_interpreter())); });
  EXPECT_EQ(e.kind(), ErrorKind::unsupported);
  EXPECT_NE(std::string(e.what()).find("dot_general"), std::string::npos) << e.what();
  EXPECT_NE(std::string(e.what()).find("interpreter"), std::string::npos) << e.what();
}

TEST(DeviceMemory, ThatIsFullIsAnErrorAndEverythingStaysUsable) {
  int64_t needed = 0;
  {
    const auto device = open_interpreter();
    const int64_t before = device->memory().free;
    Step step(on(device));
    step.run();
    device->sync();
    needed = before - device->memory().free;
  }
  ASSERT_GT(needed, 0);
  // From nothing at all to one byte too little: refused somewhere, never anything worse.
  for (int64_t share = 0; share < 8; ++share) {
    const auto device = open_interpreter(concat("memory=", (needed - 1) * share / 7));
    const int64_t before = device->memory().free;
    {
      const Error e = error_of([&] {
        Step step(on(device));
        step.run();
        step.loss();
      });
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
    }
    EXPECT_EQ(device->memory().free, before) << "all was given back";
  }
  const auto device = open_interpreter(concat("memory=", needed));
  Step step(on(device));
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
  expect_the_cpu_works();
}

TEST(DeviceMemory, HasALineOfItsOwn) {
  const auto device = open_interpreter();
  device->account().set_limit(1000);
  const Error e = error_of([&] {
    Step step(on(device));
    step.run();
  });
  EXPECT_EQ(e.kind(), ErrorKind::out_of_memory);
  EXPECT_NE(std::string(e.what()).find("interpreter:0"), std::string::npos) << e.what();
  device->account().set_limit(1 << 30);
  Step step(on(device));
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
}

TEST(DeviceLost, InTheMiddleOfAStepEndsWhatItHadAndNothingElse) {
  const int64_t nodes = nodes_of_a_step();
  for (const int64_t at : {int64_t{1}, nodes / 2, nodes, nodes + nodes / 2}) {
    SCOPED_TRACE(at);
    const auto device = open_interpreter(concat("lose_at=", at));
    Step step(on(device));
    if (at > nodes) {
      step.run();
      EXPECT_TRUE(std::isfinite(step.loss()));
    }
    step.run();
    const Error e = error_of([&] { step.loss(); });
    EXPECT_EQ(e.kind(), ErrorKind::device);
    EXPECT_NE(std::string(e.what()).find("the device is lost"), std::string::npos) << e.what();
    // From now on, at once, and it says what to do.
    EXPECT_NE(std::string(error_of([&] { step.run(); }).what()).find("new process"), std::string::npos);
    EXPECT_EQ(error_of([&] { (void)read_bytes(step.weights.all()[0].storage); }).kind(), ErrorKind::device);
    EXPECT_EQ(error_of([&] { Step another(on(device)); }).kind(), ErrorKind::device);
    expect_the_cpu_works();
    // A weight that is written anew is the host's again.
    const Tensor& kernel = step.weights.all()[0].storage;
    assign(kernel, Tensor::zeros(kernel.dtype(), kernel.shape()));
    EXPECT_NO_THROW((void)read_bytes(kernel));
  }
}

TEST(DeviceLost, WithWorkQueuedBehindIt) {
  const auto device = open_interpreter("lose_at=5");
  Step step(on(device));
  std::string text;
  for (int i = 0; i < 50 && text.empty(); ++i) {
    const Error e = error_of([&] { step.run(); });
    if (e.kind() == ErrorKind::device) text = e.what();
  }
  if (text.empty()) text = error_of([&] { step.loss(); }).what();
  EXPECT_NE(text.find("lost"), std::string::npos) << text;
}

// What a GPU's driver has to be asked for so that a kernel writes where there is no memory, in the context
// that everybody in the process shares. False: this is no GPU of NVIDIA's.
bool let_a_kernel_fault() {
  constexpr const char* kText =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry fault() {\n.reg .u64 %rd<2>;\n"
      ".reg .u32 %r<2>;\nmov.u64 %rd1, 16;\nmov.u32 %r1, 1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return false;
  const auto call = [&]<class... A>(const char* name, A... arguments) {
    const auto function = reinterpret_cast<int (*)(A...)>(dlsym(library, name));
    return function != nullptr && function(arguments...) == 0;
  };
  void *context = nullptr, *module = nullptr, *kernel = nullptr;
  void** const none = nullptr;
  void* const stream = nullptr;
  return call("cuInit", 0u) && call("cuDevicePrimaryCtxRetain", &context, 0) &&
         call("cuCtxPushCurrent_v2", context) &&
         call("cuModuleLoadData", &module, static_cast<const void*>(kText)) &&
         call("cuModuleGetFunction", &kernel, module, "fault") &&
         call("cuLaunchKernel", kernel, 1u, 1u, 1u, 1u, 1u, 1u, 0u, stream, none, none);
}

// Run it in a process of its own: the GPU is lost to this one (scripts/test_cuda.sh does).
TEST(GpuFault, EndsTheDeviceAndNothingElse) {
  if (tests_the_interpreter()) GTEST_SKIP() << "PLIMSOLL_TEST_DEVICE is not set";
  const auto device = open_tested_device("");
  Step step(on(device));
  step.run();
  EXPECT_TRUE(std::isfinite(step.loss()));
  if (!let_a_kernel_fault()) GTEST_SKIP() << "no GPU of NVIDIA's";
  const Error e = error_of([&] {
    step.run();
    step.loss();
  });
  EXPECT_EQ(e.kind(), ErrorKind::device) << e.what();
  std::printf("%s\n", e.what());
  EXPECT_NE(std::string(error_of([&] { step.run(); }).what()).find("new process"), std::string::npos);
  EXPECT_EQ(error_of([&] { Step another(on(device)); }).kind(), ErrorKind::device);
  expect_the_cpu_works();
}

}  // namespace
}  // namespace plimsoll::testing

// What a device keeps of weights from run to run is made again whenever a weight changes: predictions are
// those of the CPU all the time.
#include "device_plugin/interpreter.h"
#include "plimsoll/contents.h"
#include "plimsoll/ops.h"
#include "support/compare.h"
#include "support/fill.h"

namespace plimsoll::testing {
namespace {

// Convolutions with what follows them in a network, of three points and of one, and a residual around both.
struct Network {
  Tensor wide = fill(DType::f32, {3, 3, 8, 16}, -0.5, 0.5, 1),
         narrow = fill(DType::f32, {1, 1, 16, 16}, -1, 1, 2);
  Tensor gamma = fill(DType::f32, {16}, 0.5, 2, 3), shift = fill(DType::f32, {16}, -1, 1, 4);

  Graph graph() const {
    Graph g;
    const Tensor x = g.input("x", DType::f32, {2, 6, 6, 8});
    const Tensor scale = rsqrt(g.variable("gamma", gamma) * 2.0), bias = g.variable("shift", shift);
    const Tensor y = relu(conv(x, g.variable("wide", wide)) * scale + bias);
    const Tensor z = conv(y, g.variable("narrow", narrow)) * scale + bias;
    g.output("y", relu(z + y));
    return g;
  }
};

class KeptOnDevice : public ::testing::Test {
 protected:
  void expect_same(const char* when) {
    const Tensor want = here_(std::span(&x_, 1))[0], got = there_(std::span(&x_, 1))[0];
    for (int64_t i = 0; i < want.shape().elements(); ++i)
      ASSERT_NEAR(element(got, i), element(want, i), 1e-4) << when << ", element " << i;
  }
  void expect_same_twice(const char* when) {
    expect_same(when);
    expect_same(when);
    expect_same(when);
  }

  std::shared_ptr<Device> device_ = open_tested_device("fuse_folds,library");
  Network network_;
  Tensor x_ = fill(DType::f32, {2, 6, 6, 8}, -1, 1, 5);
  Program here_ = Program::compile(network_.graph());
  Program there_ = Program::compile(network_.graph(), on(device_));
};

TEST_F(KeptOnDevice, HoldsFromRunToRun) { expect_same_twice("at first"); }

TEST_F(KeptOnDevice, SeesAssignments) {
  expect_same_twice("at first");
  for (const Tensor& t : {network_.wide, network_.narrow, network_.gamma, network_.shift}) {
    assign(t, fill(DType::f32, t.shape(), 0.5, 1, 6));
    expect_same_twice("after an assignment");
  }
}

TEST_F(KeptOnDevice, SeesWhatAnotherProgramOnTheDeviceWrites) {
  expect_same_twice("at first");
  Graph g;
  const Tensor v = g.variable("wide", network_.wide);
  g.update(v, v * 0.5);
  Program halve = Program::compile(g, on(device_));
  for (int i = 0; i < 2; ++i) {
    halve({});
    expect_same_twice("after an update");
  }
}

TEST_F(KeptOnDevice, IsDoneWithoutUnderALine) {
  device_->account().set_limit(int64_t{64} << 20);
  const int64_t before = device_->account().used(Owner::weights);
  there_ = Program::compile(network_.graph(), on(device_));
  EXPECT_LE(device_->account().used(Owner::weights), before);
  expect_same_twice("under a line");
  assign(network_.wide, fill(DType::f32, network_.wide.shape(), 0.5, 1, 7));
  expect_same_twice("under a line, after an assignment");
}

TEST_F(KeptOnDevice, SeesWritesThroughAPointer) {
  expect_same_twice("at first");
  float* const bytes = network_.narrow.data<float>();
  for (int i = 0; i < 2; ++i) {
    bytes[5] += 1;
    expect_same_twice("after a write");
  }
}

}  // namespace
}  // namespace plimsoll::testing

// Programs that are made, run and dropped leave nothing behind: on the device, in the account, in the process.
#include "device_plugin/interpreter.h"
#include "memory/account.h"
#include "memory/readings.h"
#include "models/models.h"

namespace plimsoll::testing {
namespace {

constexpr int kPrograms = 1000;
constexpr int64_t kShapes = 8;
constexpr int64_t kSlack = 2 << 20;  // of the process, by its allocator; a leak of 2 KiB a program shows

struct Held {
  int64_t device, account, process;
};
Held held(Device& device) {
  device.sync();
  return {device.account().used(), account::used(), readings::process().value().resident};
}

TEST(DeviceGrowth, AThousandProgramsMadeAndDroppedLeaveNothing) {
  const std::shared_ptr<Device> device = open_tested_device("");
  const models::Model& model = models::get_model("parity_mlp");
  models::Weights weights;
  std::vector<Tensor> loss{Tensor()};
  const auto make_and_drop = [&](int programs) {
    for (int i = 0; i < programs; ++i) {
      const int64_t batch = 1 + i % kShapes;
      Program program = Program::compile(models::train_graph(model, weights, batch), on(device));
      program.run(models::sample_batch(model, batch), loss);
    }
  };
  make_and_drop(kPrograms / 10);
  const Held before = held(*device);
  make_and_drop(kPrograms);
  const Held after = held(*device);
  EXPECT_EQ(after.device, before.device);
  EXPECT_EQ(after.account, before.account);
  EXPECT_LE(after.process, before.process + kSlack);
}

}  // namespace
}  // namespace plimsoll::testing

// fit(spill): what the optimizer keeps lies in a file, and trains the same weights in less memory.
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "memory/readings.h"
#include "memory/spill.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "support/fill.h"

namespace plimsoll {
namespace {

const std::string kDisk = PLIMSOLL_BUILD_FOLDER;

struct Spill : ::testing::Test {
  void SetUp() override {
    try {
      spill::check(kDisk);
    } catch (const Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

// 12 MiB of weights: 24 of slots, of which one layer's 8 are worked with at a time.
Model wide_model(const Optimizer& optimizer) {
  set_random_seed(5);
  Model model =
      Sequential({Input({1024}), Dense(1024, {.activation = "relu"}), Dense(1024), Dense(1024), Dense(1)});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  return model;
}

const Tensor kX = testing::fill(DType::f32, {64, 1024}, -1, 1, 1);
const Tensor kY = testing::fill(DType::f32, {64, 1}, -1, 1, 2);

FitArgs three_epochs(const std::string& spill, const std::string& memory = {}) {
  return {.batch_size = 16, .epochs = 3, .verbose = 0, .seed = 7, .memory = memory, .spill = spill};
}

void expect_same_bits(const Model& a, const Model& b) {
  const std::vector<Tensor> x = a.get_weights(), y = b.get_weights();
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(
        std::memcmp(x[i].data(), y[i].data(), static_cast<size_t>(byte_size(x[i].dtype(), x[i].shape()))), 0)
        << i;
}

TEST_F(Spill, TrainsTheSameWeightsBitByBit) {
  const Optimizer optimizers[] = {Adam(0.01), SGD(0.01, {.momentum = 0.9}), Adam(0.01, {.use_ema = true})};
  for (const Optimizer& optimizer : optimizers) {
    Model plain = wide_model(optimizer), spilled = wide_model(optimizer);
    plain.fit(kX, kY, three_epochs(""));
    spilled.fit(kX, kY, three_epochs(kDisk));
    expect_same_bits(plain, spilled);
  }
}

TEST_F(Spill, StateThatIsThereMoves) {
  Model plain = wide_model(Adam(0.01)), spilled = wide_model(Adam(0.01));
  for (Model* m : {&plain, &spilled}) m->fit(kX, kY, three_epochs(""));
  const int64_t before = memory_use().engine;
  plain.fit(kX, kY, three_epochs(""));
  spilled.fit(kX, kY, three_epochs(kDisk));
  expect_same_bits(plain, spilled);
  EXPECT_LT(memory_use().engine, before - (14 << 20));
  plain.fit(kX, kY, three_epochs(""));
  spilled.fit(kX, kY, three_epochs(""));
  expect_same_bits(plain, spilled);
}

TEST_F(Spill, FitsUnderALineThatIsTooLowWithout) {
  Model whole = wide_model(Adam(0.01)), spilled = wide_model(Adam(0.01));
  EXPECT_THROW(whole.fit(kX, kY, three_epochs("", "30MiB")), MemoryLineError);
  spilled.fit(kX, kY, three_epochs(kDisk, "30MiB"));
  whole.fit(kX, kY, three_epochs(""));
  expect_same_bits(whole, spilled);
}

TEST_F(Spill, NothingStaysResident) {
  const int64_t bytes = 64 << 20;
  const std::shared_ptr<Buffer> b = spill::make(bytes, kDisk);
  std::memset(b->data(), 3, static_cast<size_t>(bytes));
  const int64_t touched = readings::process()->resident;
  spill::let_go(b->address(), bytes);
  EXPECT_LT(readings::process()->resident, touched - bytes * 9 / 10);
  EXPECT_EQ(static_cast<const char*>(b->data())[bytes - 1], 3);
}

// Exit status of a forked child: 0 if `act` throws what it should there.
int refused_in_child(const std::function<void()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 1;
    try {
      act();
    } catch (const Error& e) {
      status = e.kind() == ErrorKind::unsupported && std::strstr(e.what(), "forked") ? 0 : 2;
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Spill, AForkedChildCannotChangeWhatItsParentTrainsWith) {
  Model model = wide_model(Adam(0.01)), plain = wide_model(Adam(0.01));
  model.fit(kX, kY, three_epochs(kDisk));
  EXPECT_EQ(refused_in_child([&] { model.fit(kX, kY, three_epochs("")); }), 0);
  EXPECT_EQ(refused_in_child([&] { model.train_on_batch({kX}, {kY}); }), 0);
  model.fit(kX, kY, three_epochs(""));
  for (int i = 0; i < 2; ++i) plain.fit(kX, kY, three_epochs(""));
  expect_same_bits(model, plain);
}

TEST_F(Spill, BadFoldersAreRefusedAndNothingIsLost) {
  Model model = wide_model(Adam(0.01));
  model.fit(kX, kY, three_epochs(""));
  const auto refused = [&](const std::string& folder) {
    try {
      model.fit(kX, kY, three_epochs(folder));
      return std::string("was taken");
    } catch (const Error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_NE(refused("/no/such/folder").find("/no/such/folder"), std::string::npos);
  if (std::filesystem::exists("/dev/shm")) {
    EXPECT_NE(refused("/dev/shm").find("tmpfs"), std::string::npos);
  }
  Model other = wide_model(Adam(0.01));
  other.fit(kX, kY, three_epochs(""));
  expect_same_bits(model, other);
}

}  // namespace
}  // namespace plimsoll

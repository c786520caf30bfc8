// Requests for memory failed once in turn while a model is loaded, trained, asked and saved: an
// Error{out_of_memory} comes out, nothing leaks, what was there before is there still, and the next call
// works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "allocations/hooks.h"
#include "memory/account.h"
#include "memory/host.h"
#include "memory/pool.h"
#include "plimsoll/config.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"

namespace plimsoll::testing {
namespace {

namespace fs = std::filesystem;

// A kind of request for memory whose n-th from now on can be made to fail.
struct Requests {
  const char* name;
  void (*fail_nth)(int64_t n);
  bool (*has_failed)();  // asked before it is switched off
  bool each;             // every one in turn; else a spread, closest at the beginning
};

int64_t seen_before, failing;

constexpr Requests kKinds[] = {
    {"Charges",
     [](int64_t n) {
       seen_before = account::charges();
       account::fail_nth_charge(failing = n);
     },
     [] { return account::charges() - seen_before >= failing; }, true},
    {"HostMemory",
     [](int64_t n) {
       seen_before = host::requests();
       host::fail_nth(failing = n);
     },
     [] { return host::requests() - seen_before >= failing; }, true},
    {"Allocations", fail_nth_new, has_failed, false},
};

// One attempt: the n-th request of a kind fails.
class Turn {
 public:
  Turn(const Requests& kind, int64_t n) : kind_(kind), n_(n) {}
  bool came() const { return came_; }

  // Whether the call ended in the Error that it must. One that can do without the memory may come to its end.
  bool stops(const std::function<void()>& call) {
    bool stopped = false;
    kind_.fail_nth(n_);
    try {
      call();
    } catch (const Error& e) {
      came_ = kind_.has_failed();
      kind_.fail_nth(0);
      stopped = true;
      EXPECT_EQ(e.kind(), ErrorKind::out_of_memory) << e.what();
    } catch (const std::exception& e) {
      came_ = kind_.has_failed();
      kind_.fail_nth(0);
      stopped = true;
      ADD_FAILURE() << "no Error, but " << e.what();
    }
    if (!stopped) came_ = kind_.has_failed();
    kind_.fail_nth(0);
    return stopped;
  }

 private:
  const Requests& kind_;
  int64_t n_;
  bool came_ = false;
};

int64_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

// `attempt` makes what it needs, has one call stopped, checks what must hold afterwards, and drops
// everything.
void in_turn(const Requests& kind, const std::function<void(Turn&)>& attempt) {
  const auto fail_nth = [&](int64_t n) {
    SCOPED_TRACE(concat("request ", n));
    Turn turn(kind, n);
    attempt(turn);
    pool::trim();
    return turn.came();
  };
  for (const int64_t n : {INT64_MAX, int64_t{1}, INT64_MAX}) fail_nth(n);  // what is kept once made is there
  const int64_t used = account::used(), files = open_files(), live = live_news();
  bool came = true;
  for (int64_t n = 1; came && !::testing::Test::HasFailure(); n += kind.each ? 1 : 1 + n / 10) {
    came = fail_nth(n);
    EXPECT_EQ(account::used(), used) << "request " << n;
    EXPECT_LE(live_news(), live) << "request " << n;
    EXPECT_EQ(open_files(), files) << "request " << n;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "request " << n << " left a process";
  }
}

using Values = std::vector<double>;

Values values_of(const std::vector<Tensor>& tensors) {
  Values all;
  for (const Tensor& t : tensors) {
    const auto* first = static_cast<const float*>(read_bytes(t));
    all.insert(all.end(), first, first + t.shape().elements());
  }
  return all;
}

constexpr int64_t kRecords = 14, kBatch = 4, kSteps = 4;

Tensor inputs() {
  std::vector<float> x(kRecords * 6);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) / 5 - 1;
  return Tensor::from(std::span<const float>(x), {kRecords, 6});
}

Dataset records() {
  std::vector<int32_t> y(kRecords);
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int32_t>(i % 3);
  return Dataset::arrays({inputs()}, {Tensor::from(std::span<const int32_t>(y), {kRecords})})
      .shuffle(3)
      .batch(kBatch);
}

Model made(uint64_t seed = 1) {
  set_random_seed(seed);
  Sequential model({Input({6}), Dense(5, {.activation = "relu"}), BatchNormalization(), Dense(3)}, "small");
  model.compile({.optimizer = "adam",
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  return model;
}

class FailingModel : public ::testing::TestWithParam<Requests> {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / concat("failing_", ::getpid());
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FailingModel, ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

// The weights after no, one, two ... steps.
std::vector<Values> weights_after_steps(const Dataset& data) {
  std::vector<Values> after{values_of(made().get_weights())};
  for (int64_t steps = 1; steps <= kSteps; ++steps) {
    Model model = made();
    model.fit(data, {.verbose = 0, .steps_per_epoch = steps});
    after.push_back(values_of(model.get_weights()));
  }
  return after;
}

void fit_in_turn(const Requests& kind, const Dataset& data, const std::string& memory = "") {
  const std::vector<Values> after = weights_after_steps(data);
  in_turn(kind, [&](Turn& turn) {
    Model model = made();
    const bool stopped = turn.stops([&] { model.fit(data, {.verbose = 0, .memory = memory}); });
    const Values now = values_of(model.get_weights());
    const auto steps = std::find(after.begin(), after.end(), now) - after.begin();
    EXPECT_LE(steps, kSteps) << "a step was left half done";
    EXPECT_TRUE(stopped || steps == kSteps);
    model.fit(data, {.verbose = 0});
    EXPECT_TRUE(steps > 0 || values_of(model.get_weights()) == after.back());
  });
}

TEST_P(FailingModel, FitStopsBetweenSteps) { fit_in_turn(GetParam(), records()); }

TEST_P(FailingModel, FitStopsBetweenStepsWithThreadsThatRead) {
  const auto same = [](Record& record) { record.x[0] = record.x[0].copy(); };
  fit_in_turn(GetParam(), records().map(same, 2).prefetch(2));
}

// Where the step must be planned anew, with values made again.
TEST_P(FailingModel, FitUnderALineStopsBetweenSteps) {
  const MemoryForecast f = forecast(made(), kBatch);
  // Its two Programs, of whole batches and of the smaller last one, and a part of what the step would take.
  fit_in_turn(GetParam(), records(), std::to_string(f.total() + f.programs + (16 << 10)));
}

TEST_P(FailingModel, AForecastChangesNothing) {
  const Values before = values_of(made().get_weights());
  const int64_t want = forecast(made(), kBatch).total();
  in_turn(GetParam(), [&](Turn& turn) {
    const Model model = made();
    turn.stops([&] { forecast(model, kBatch); });
    EXPECT_EQ(values_of(model.get_weights()), before);
    EXPECT_EQ(forecast(model, kBatch).total(), want);
  });
}

TEST_P(FailingModel, PredictAndEvaluateChangeNothing) {
  const Tensor x = inputs();
  const Dataset data = records();
  const Values before = values_of(made().get_weights()), want = values_of({made().predict(x)});
  const Logs logs = made().evaluate(data);
  for (const bool evaluate : {false, true}) {
    in_turn(GetParam(), [&](Turn& turn) {
      Model model = made();
      turn.stops([&] { evaluate ? void(model.evaluate(data)) : void(model.predict(x)); });
      EXPECT_EQ(values_of(model.get_weights()), before);
      EXPECT_EQ(values_of({model.predict(x)}), want);
      EXPECT_EQ(model.evaluate(data), logs);
    });
  }
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(FailingModel, SaveLeavesTheFileThatWasThere) {
  const Values want = values_of(made().get_weights());
  for (const char* name : {"model.keras", "model.h5", "model.weights.h5"}) {
    const fs::path file = folder_ / name;
    in_turn(GetParam(), [&](Turn& turn) {
      made(2).save(file);
      const std::string before = bytes_of(file);
      const Model model = made();
      const bool stopped = turn.stops([&] { model.save(file); });
      EXPECT_TRUE(!stopped || bytes_of(file) == before);
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
      model.save(file);
      Model other = made(2);
      other.load_weights(file);
      EXPECT_EQ(values_of(other.get_weights()), want);
      fs::remove(file);
    });
  }
}

TEST_P(FailingModel, LoadModelLeavesNothing) {
  Model trained = made();
  trained.fit(records(), {.verbose = 0});
  const Tensor x = inputs();
  const Values want = values_of({trained.predict(x)});
  for (const char* name : {"model.keras", "model.h5"}) {
    const fs::path file = folder_ / name;
    trained.save(file);
    in_turn(GetParam(), [&](Turn& turn) {
      Model model;
      if (turn.stops([&] { model = load_model(file); })) return;
      EXPECT_EQ(values_of({model.predict(x)}), want);
    });
  }
}

// Files of another float, whose values are cast, too.
TEST_P(FailingModel, LoadWeightsIsAllOrNothing) {
  const Values before = values_of(made(2).get_weights());
  for (const char* policy : {"float32", "float64"}) {
    set_dtype_policy(policy);
    Model source = made();
    source.fit(records(), {.verbose = 0});
    set_dtype_policy("float32");
    for (const char* name : {"model.h5", "model.weights.h5"}) {
      const fs::path file = folder_ / name;
      source.save(file);
      Model whole = made(2);
      whole.load_weights(file);
      const Values want = values_of(whole.get_weights());
      in_turn(GetParam(), [&](Turn& turn) {
        Model model = made(2);
        const bool stopped = turn.stops([&] { model.load_weights(file); });
        EXPECT_EQ(values_of(model.get_weights()), stopped ? before : want);
        model.load_weights(file);
        EXPECT_EQ(values_of(model.get_weights()), want);
      });
    }
  }
}

}  // namespace
}  // namespace plimsoll::testing

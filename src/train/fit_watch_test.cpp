// What looks on while fit() runs: stalls, the trace, memory.
#include "train/fit_watch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "exec/stall_watch.h"
#include "plimsoll/error.h"
#include "plimsoll/log.h"
#include "plimsoll/model.h"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("fit_watch_" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

Sequential small_model() {
  set_random_seed(3);
  Sequential model(
      {Input({64}), Dense(256, {.activation = "relu"}), Dense(256, {.activation = "relu"}), Dense(1)});
  model.compile({.optimizer = "adam", .loss = "mse", .threads = 2});
  return model;
}

Dataset small_data() {
  return Dataset::arrays({Tensor::full(DType::f32, {256, 64}, 0.5)}, {Tensor::zeros(DType::f32, {256, 1})})
      .batch(64);
}

FitArgs quiet(int64_t epochs = 2) {
  FitArgs a;
  a.epochs = epochs;
  a.verbose = 0;
  return a;
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The rules of the trace event format: every event has a phase, a process and a name; those with a duration
// have a thread and a time, and on one thread lie inside each other or apart; counters have numbers; times go
// forward.
void check_trace(const nlohmann::json& trace, std::map<std::string, int>& phases) {
  ASSERT_TRUE(trace.contains("traceEvents"));
  double last = 0;
  std::map<int, std::vector<double>> open;  // ends, by thread
  for (const auto& e : trace["traceEvents"]) {
    const std::string phase = e.at("ph");
    ++phases[phase];
    EXPECT_TRUE(e.at("name").is_string());
    EXPECT_TRUE(e.at("pid").is_number_integer());
    if (phase == "M") {
      EXPECT_TRUE(e.at("args").at("name").is_string());
      continue;
    }
    const double ts = e.at("ts");
    EXPECT_GE(ts, last) << e;
    last = ts;
    if (phase == "C") {
      for (const auto& [key, value] : e.at("args").items()) EXPECT_TRUE(value.is_number()) << key;
      continue;
    }
    ASSERT_EQ(phase, "X") << e;
    const double end = ts + e.at("dur").get<double>();
    EXPECT_GE(e.at("dur").get<double>(), 0);
    std::vector<double>& ends = open[e.at("tid").get<int>()];
    constexpr double kRounding = 1e-3;  // microseconds, as written
    while (!ends.empty() && ends.back() <= ts + kRounding) ends.pop_back();
    if (!ends.empty()) {
      EXPECT_LE(end, ends.back() + kRounding) << e;
    }
    ends.push_back(end);
  }
}

TEST(FitTrace, IsWhatPerfettoOpens) {
  const Folder folder;
  Sequential model = small_model();
  FitArgs a = quiet();
  a.trace = (folder.path / "run.json").string();
  a.validation_data = small_data();
  model.fit(small_data(), a);
  const auto trace = nlohmann::json::parse(text_of(a.trace));
  std::map<std::string, int> phases, names;
  check_trace(trace, phases);
  for (const auto& e : trace["traceEvents"]) ++names[e["name"].get<std::string>()];
  EXPECT_GT(phases["C"], 0);
  EXPECT_EQ(names["epoch 1"], 1);
  EXPECT_EQ(names["epoch 2"], 1);
  EXPECT_EQ(names["step 7"], 1);
  EXPECT_EQ(names["validation"], 2);
  EXPECT_GT(names["wait for data"], 7);
  EXPECT_GT(names["memory: weights"], 7);
  EXPECT_GT(names["memory: in use in the arena"], 7);
  int kernels = 0;
  for (const auto& [name, count] : names) kernels += name.find("dense") != name.npos ? count : 0;
  EXPECT_GT(kernels, 8 * 4);
  EXPECT_EQ(trace["otherData"]["events_left_out"], 0);
}

TEST(FitTrace, ChangesNoResult) {
  const Folder folder;
  Sequential plain = small_model(), traced = small_model();
  FitArgs a = quiet();
  const History h = plain.fit(small_data(), a);
  a.trace = (folder.path / "run.json").string();
  EXPECT_EQ(traced.fit(small_data(), a)["loss"], h["loss"]);
}

TEST(FitTrace, IsBounded) {
  const Folder folder;
  FitTrace trace(folder.path / "run.json");
  const auto now = KernelRecorder::Clock::now();
  for (int i = 0; i < 150'000; ++i) trace.add("step", now, now);
  const auto json = nlohmann::json::parse(trace.json());
  EXPECT_EQ(json["otherData"]["events_left_out"], 50'000);
  EXPECT_LT(json["traceEvents"].size(), 100'010u);
}

TEST(FitTrace, IsWrittenWhenFitThrows) {
  const Folder folder;
  Sequential model = small_model();
  FitArgs a = quiet();
  a.trace = (folder.path / "run.json").string();
  a.callbacks = {
      LambdaCallback({.on_epoch_end = [](int64_t, Logs&) { throw Error(ErrorKind::io, "test", "no"); }})};
  EXPECT_THROW(model.fit(small_data(), a), Error);
  EXPECT_FALSE(nlohmann::json::parse(text_of(a.trace))["traceEvents"].empty());
}

TEST(FitTrace, RefusesAPlaceThatIsNone) {
  Sequential model = small_model();
  FitArgs a = quiet();
  a.trace = "/nowhere/run.json";
  EXPECT_THROW(model.fit(small_data(), a), Error);
}

TEST(FitStall, RefusesWhatItDoesNotKnow) {
  Sequential model = small_model();
  FitArgs a = quiet();
  a.on_stall = "panic";
  EXPECT_THROW(model.fit(small_data(), a), Error);
  a.on_stall = "warn";
  a.stall_after = 0;
  EXPECT_THROW(model.fit(small_data(), a), Error);
}

TEST(FitStall, LeavesNoThread) {
  Sequential model = small_model();
  model.fit(small_data(), quiet());  // starts the workers
  const size_t before = read_stall().threads.size();
  size_t during = 0;
  FitArgs a = quiet();
  a.callbacks = {
      LambdaCallback({.on_epoch_end = [&](int64_t, Logs&) { during = read_stall().threads.size(); }})};
  model.fit(small_data(), a);
  EXPECT_EQ(during, before + 1);
  EXPECT_EQ(read_stall().threads.size(), before);
}

// A generator that hangs until the watch has said so, as its log tells: no clock decides.
TEST(FitStall, NamesAReaderThatHangsAndRaisesWhenItIsBack) {
  std::atomic<bool> said{false};
  std::string message;
  set_log_sink([&](LogLevel, std::string_view, std::string_view text) {
    if (said) return;
    message = text;
    said = true;
  });
  Sequential model = small_model();
  int given = 0;
  const auto open = [&](int64_t) {
    return [&](Record& r) {
      if (++given == 64 * 3) {
        for (int i = 0; i < 6000 && !said; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      r.x = {Tensor::full(DType::f32, {64}, 0.5)};
      r.y = {Tensor::full(DType::f32, {1}, 0)};
      return given <= 64 * 4;
    };
  };
  const RecordTypes types{{{DType::f32, {64}}}, {{DType::f32, {1}}}, {}};
  FitArgs a = quiet(1);
  a.on_stall = "raise";
  a.stall_after = 0.5;
  try {
    model.fit(Dataset::generator(open, types).batch(64), a);
    ADD_FAILURE();
  } catch (const StallError& e) {
    EXPECT_NE(e.report().doing.find("waiting for data"), std::string::npos) << e.what();
    EXPECT_FALSE(e.report().threads.empty());
  }
  set_log_sink({});
  EXPECT_NE(message.find("waiting for data"), std::string::npos) << message;
}

TEST(FitMemory, IsTold) {
  Sequential model = small_model();
  std::vector<MemoryUse> seen;
  FitArgs a = quiet();
  a.callbacks = {
      LambdaCallback({.on_memory = [&](const MemoryUse& use) { seen.push_back(use); }, .memory_every = 0})};
  model.fit(small_data(), a);
  ASSERT_EQ(seen.size(), 4u * 2 + 2);  // each step, and each epoch's end
  EXPECT_GT(seen[0].engine, 256 * 256 * 4);
  EXPECT_GE(seen[0].resident, seen[0].engine / 2);
}

TEST(MemoryMonitor, WritesALineEachTime) {
  const Folder folder;
  const fs::path file = folder.path / "memory.csv";
  Sequential model = small_model();
  FitArgs a = quiet();
  a.callbacks = {MemoryMonitor(file.string(), {.every = 0})};
  model.fit(small_data(), a);
  std::ifstream in(file);
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(line, "seconds,epoch,step,engine,engine_peak,resident,resident_peak,limit");
  int lines = 0;
  for (; std::getline(in, line); ++lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 7) << line;
  EXPECT_EQ(lines, 4 * 2 + 2);
  EXPECT_THROW(MemoryMonitor(file.string(), {.every = -1}), Error);
  a.callbacks = {MemoryMonitor("/nowhere/memory.csv")};
  EXPECT_THROW(model.fit(small_data(), a), Error);
}

TEST(MemoryMonitor, WritesLessOftenWhenItHasWrittenMuch) {
  const Folder folder;
  const fs::path file = folder.path / "memory.csv";
  const CallbackPtr monitor = MemoryMonitor(file.string(), {.every = 0, .most_lines = 20});
  monitor->on_train_begin();
  for (int i = 0; i < 2000; ++i) monitor->on_memory({});
  monitor->on_train_end({});
  const std::string text = text_of(file);
  EXPECT_GE(std::count(text.begin(), text.end(), '\n'), 21);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 1000);
}

}  // namespace
}  // namespace plimsoll

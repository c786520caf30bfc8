#include "events.h"

#include <cstdio>
#include "common/json.h"

#include "plimsoll/memory.h"

namespace plimsoll::cli {
namespace {

using Json = nlohmann::ordered_json;

void add_logs(Json& event, const Logs& logs) {
  for (const auto& [name, value] : logs) event[name] = value;
}

void print(Json& event) {
  const MemoryUse use = memory_use();
  event["memory"] = {{"engine", use.engine}, {"engine_peak", use.engine_peak}, {"resident", use.resident}};
  std::printf("%s\n", event.dump().c_str());
  std::fflush(stdout);
}

struct JsonEvents final : Callback {
  int64_t epoch = 0;
  void on_train_begin() override {
    Json event = {{"event", "train_begin"}, {"epochs", info().epochs}, {"steps", info().steps}};
    print(event);
  }
  void on_epoch_begin(int64_t number) override { epoch = number; }
  void on_train_batch_end(int64_t batch, const Logs& logs) override {
    Json event = {{"event", "batch"}, {"epoch", epoch}, {"batch", batch}};
    add_logs(event, logs);
    print(event);
  }
  void on_epoch_end(int64_t number, Logs& logs) override {
    Json event = {{"event", "epoch"}, {"epoch", number}};
    add_logs(event, logs);
    print(event);
  }
  void on_train_end(const Logs& logs) override {
    Json event = {{"event", "train_end"}};
    add_logs(event, logs);
    print(event);
  }
};

}  // namespace

CallbackPtr json_events() { return std::make_shared<JsonEvents>(); }

void print_event(const std::string& name, const Logs& numbers, const std::string& file) {
  Json event = {{"event", name}};
  if (!file.empty()) event["file"] = file;
  add_logs(event, numbers);
  print(event);
}

}  // namespace plimsoll::cli

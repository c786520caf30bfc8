// plimsoll train: trains a model on a file of data and saves it.
#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "compile_source.h"
#include "curves.h"
#include "data_source.h"
#include "events.h"
#include "forecast_text.h"
#include "memory_option.h"
#include "model_source.h"
#include "outputs.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/memory_report.h"
#include "plimsoll/planning.h"

namespace {

using namespace plimsoll;

struct TrainOptions {
  std::string model, save, plot, memory, memory_report, memory_log, trace, on_nan, on_stall = "warn";
  std::string micro_batch = "never", spill;
  cli::CompileOptions compile;
  cli::DataArguments data;
  std::string validation;
  double validation_split = 0, step_deadline = 0;
  bool hold_updates = false;
  int64_t batch = 32, epochs = 1;
  uint64_t seed = 0;
  bool seeded = false, no_shuffle = false, json = false;
};

struct Split {
  Dataset train;
  std::optional<Dataset> validation;
};

// The last part of the data is held back before anything is shuffled, as Keras does it.
Split split_data(const TrainOptions& a, const Model& model) {
  Dataset all = cli::open_data(a.data, model, true);
  if (!a.validation.empty()) {
    cli::DataArguments other = a.data;
    other.path = a.validation;
    return {all, cli::open_data(other, model, true)};
  }
  if (a.validation_split == 0) return {all, {}};
  const std::optional<int64_t> records = all.records();
  require(records.has_value(), "--validation-split", "the number of records of ", a.data.path,
          " is not known; give a file of its own with --validation");
  const auto kept = static_cast<int64_t>(static_cast<double>(*records) * (1 - a.validation_split));
  require(kept > 0 && kept < *records, "--validation-split", "leaves ", kept, " of ", *records,
          " records to train on");
  return {all.take(kept), all.skip(kept)};
}

FitArgs fit_args(const TrainOptions& a, const Split& split, const std::string& device_lines) {
  FitArgs args;
  args.epochs = a.epochs;
  args.memory = device_lines;
  args.micro_batch = a.micro_batch;
  args.spill = a.spill;
  args.verbose = a.json ? 0 : 1;
  args.on_nan = a.on_nan;
  args.hold_updates = a.hold_updates;
  args.on_stall = a.on_stall;
  args.step_deadline = a.step_deadline;
  args.trace = a.trace;
  if (!a.memory_log.empty()) args.callbacks.push_back(MemoryMonitor(a.memory_log));
  if (split.validation) args.validation_data = split.validation->batch(a.batch);
  if (a.json) args.callbacks.push_back(cli::json_events());
  return args;
}

void say(const TrainOptions& a, const std::string& event, const std::string& file) {
  if (a.json)
    cli::print_event(event, {}, file);
  else
    fmt::print("{} {}\n", event, file);
}

// Of a file whose arrays cannot be read in place.
int64_t held_in_memory(const Split& split, bool one_file) {
  int64_t sum = 0;
  const auto add = [&](const Dataset& data) {
    for (const Tensor& t : data.tensors()) sum += byte_size(t.dtype(), t.shape());
  };
  add(split.train);
  if (split.validation && !one_file) add(*split.validation);
  return sum;
}

// The line has no room for what comes before the step, such as the weights: all is planned without them,
// under what they leave, to say what would do.
[[noreturn]] void refuse(const TrainOptions& a, const Error& why) {
  const Outline outline;
  const int64_t line = memory_use().limit;
  if (line == INT64_MAX) throw why;
  Model model = cli::open_model(a.model);
  cli::compile(model, a.compile);
  const Split split = split_data(a, model);
  const int64_t before = forecast(model, a.batch).weights + held_in_memory(split, a.validation.empty());
  const FitArgs args = fit_args(a, split, "");
  set_memory_limit(std::max<int64_t>(line - before, 1));
  try {
    check_fit(model, split.train.batch(a.batch).prefetch(2), args);
  } catch (const MemoryLineError& e) {
    MemoryLineError::Numbers n = e.numbers();
    n.line = line;
    for (int64_t* bytes : {&n.need, &n.least}) *bytes += before;
    const std::string cut =
        n.parts > 0 ? concat("; with --micro-batch auto it fits in ", n.parts, " parts") : "";
    throw MemoryLineError("train",
                          concat("a batch of ", a.batch, " needs ", memory_text(n.need), ", allowed are ",
                                 memory_text(line), "; the least line that would do is ", line_text(n.least),
                                 cut, "; no batch fits. ", why.what()),
                          std::move(n));
  }
  throw why;
}

struct Opened {
  std::string device_lines;
  Model model;
  Split split;
};

Opened open(const TrainOptions& a) try {
  std::string device_lines = cli::draw_line(a.memory);
  if (a.seeded) set_random_seed(a.seed);
  Model model = cli::open_model(a.model);
  cli::compile(model, a.compile);
  Split split = split_data(a, model);
  return {std::move(device_lines), std::move(model), std::move(split)};
} catch (const Error& e) {
  if (e.kind() != ErrorKind::out_of_memory) throw;
  refuse(a, e);
}

void run(const TrainOptions& a) {
  cli::check_writable("--save", a.save, {".keras", ".h5", ".hdf5"});
  cli::check_writable("--plot", a.plot, {".svg"});
  cli::check_writable("--memory-report", a.memory_report, {".html"});
  cli::check_writable("--memory-log", a.memory_log, {".csv"});
  cli::check_writable("--trace", a.trace, {".json"});
  Opened opened = open(a);
  Model& model = opened.model;
  const Split& split = opened.split;
  Dataset train = split.train;
  constexpr int64_t kWindow = 10'000;  // records of a stream that are held to shuffle
  if (!a.no_shuffle) {
    const uint64_t seed = a.seeded ? a.seed : static_cast<uint64_t>(next_seed());
    train = train.shuffle(seed, train.random_access() ? 0 : kWindow);
  }
  if (!a.json && !model.inputs().empty())
    fmt::print("{}",
               cli::forecast_text(forecast(model, a.batch, "", a.micro_batch, a.hold_updates), a.batch));
  if (!a.memory_report.empty()) {
    const MemoryForecast f = forecast(model, a.batch, a.memory, a.micro_batch, a.hold_updates);
    cli::write_text(a.memory_report, memory_report_html(model, a.batch, f));
    say(a, "drew", a.memory_report);
  }
  const History history =
      model.fit(train.batch(a.batch).prefetch(2), fit_args(a, split, opened.device_lines));
  if (history.interrupted && !a.json) {
    fmt::print("interrupted between two steps{}\n",
               a.save.empty() ? "; without --save what was learned is not kept" : ", with the model intact");
  }
  if (!a.trace.empty()) say(a, "traced", a.trace);
  if (!a.save.empty()) {
    model.save(a.save);
    say(a, "saved", a.save);
  }
  if (!a.plot.empty()) {
    cli::write_text(a.plot, cli::curves_svg(history));
    say(a, "drew", a.plot);
  }
  const MemoryUse use = memory_use();
  if (!a.json) {
    fmt::print("measured peak: {} held by the engine, {} resident in the process\n",
               memory_text(use.engine_peak), memory_text(use.resident_peak));
  }
  if (history.interrupted) throw CLI::RuntimeError(130);
}

}  // namespace

void cmd_train(CLI::App& app) {
  auto a = std::make_shared<TrainOptions>();
  CLI::App* command = app.add_subcommand("train", "Train a model on a file of data and save it");
  command->add_option("model", a->model, "A .keras, .h5 or .json file, or a .yaml of layers")
      ->required()
      ->check(CLI::ExistingFile);
  cli::add_data_options(*command, a->data, true);
  cli::add_compile_options(*command, a->compile, true);
  command->add_option("--batch", a->batch, "Records per step")->check(cli::positive())->capture_default_str();
  command->add_option("--epochs", a->epochs)->check(cli::positive())->capture_default_str();
  command->add_option("--validation", a->validation, "Data to measure on after each epoch")
      ->check(CLI::ExistingPath);
  command
      ->add_option("--validation-split", a->validation_split,
                   "Hold back this share of the data, its last part")
      ->check(CLI::Range(0.0, 1.0));
  cli::add_memory_option(*command, a->memory);
  command
      ->add_option(
          "--micro-batch", a->micro_batch,
          "never: a batch that fits in no exact way is refused; auto: under a line it is trained in parts, "
          "equal to rounding")
      ->check(CLI::IsMember({"auto", "never"}))
      ->capture_default_str();
  command
      ->add_option("--spill", a->spill,
                   "A folder on a disk for what the optimizer keeps: less memory, the same weights, slower")
      ->check(CLI::ExistingDirectory);
  command->add_option("--memory-report", a->memory_report,
                      "Write a page with the bytes of a step by layer, before it starts (.html)");
  command->add_option("--memory-log", a->memory_log, "Write what is held once a second (.csv)");
  command->add_option("--trace", a->trace,
                      "Write what was done when, kernels and memory, for ui.perfetto.dev (.json)");
  command
      ->add_option(
          "--on-nan", a->on_nan,
          "If the loss or a gradient is NaN or infinite: raise stops and names the operation it comes "
          "from, skip leaves the step out, warn says it once. Default: train on, as Keras does")
      ->check(CLI::IsMember({"raise", "skip", "warn"}));
  command
      ->add_flag("--hold-updates", a->hold_updates,
                 "With --on-nan: no weight changes until all gradients are known to be finite; takes the "
                 "memory of all gradients")
      ->needs("--on-nan");
  command->add_option("--on-stall", a->on_stall, "If training does not come on: warn, raise, off")
      ->check(CLI::IsMember({"warn", "raise", "off"}))
      ->capture_default_str();
  command->add_option("--step-deadline", a->step_deadline, "Seconds that a step may take; 0: any")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--seed", a->seed, "Makes weights, order and dropout repeatable")
      ->each([a](const std::string&) { a->seeded = true; });
  command->add_flag("--no-shuffle", a->no_shuffle, "Take the records in their order");
  command->add_option("--save", a->save,
                      "Write the trained model: .keras, .h5 or .weights.h5; after Ctrl-C too");
  command->add_option("--plot", a->plot, "Write the curves as a picture (.svg)");
  command->add_flag("--json", a->json, "Events for programs, one JSON object per line");
  command->footer(
      "Examples:\n"
      "  plimsoll train model.yaml --data digits.npz --loss sparse_categorical_crossentropy --metrics "
      "accuracy \\\n"
      "      --epochs 5 --save digits.keras --plot curves.svg\n"
      "  plimsoll train digits.keras --data more.npz --memory 500MiB --save digits.keras\n"
      "  plimsoll train digits.keras --data more.npz --on-nan raise --trace run.json\n"
      "  plimsoll train price.json --data houses.csv --y price --loss mse --epochs 20");
  command->callback([a] { run(*a); });
}

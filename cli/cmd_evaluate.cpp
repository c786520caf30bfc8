// plimsoll evaluate: the loss and metrics of a model on a file of data.
#include <fmt/format.h>

#include "command.h"
#include "compile_source.h"
#include "data_source.h"
#include "events.h"
#include "memory_option.h"
#include "model_source.h"

namespace {

using namespace plimsoll;

struct EvaluateOptions {
  std::string model, memory;
  cli::CompileOptions compile;
  cli::DataArguments data;
  int64_t batch = 32;
  bool json = false;
};

void run(const EvaluateOptions& a) {
  cli::draw_line(a.memory);
  Model model = cli::open_model(a.model);
  cli::compile(model, a.compile);
  const Logs logs = model.evaluate(cli::open_data(a.data, model, true).batch(a.batch).prefetch(2));
  if (a.json) return cli::print_event("evaluate", logs);
  for (const auto& [name, value] : logs) fmt::print("{}: {:.6g}\n", name, value);
}

}  // namespace

void cmd_evaluate(CLI::App& app) {
  auto a = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "Measure a model's loss and metrics on a file of data");
  command->add_option("model", a->model, "A .keras or .h5 file")->required()->check(CLI::ExistingFile);
  cli::add_data_options(*command, a->data, true);
  cli::add_compile_options(*command, a->compile, false);
  command->add_option("--batch", a->batch, "Records per step")->check(cli::positive())->capture_default_str();
  cli::add_memory_option(*command, a->memory);
  command->add_flag("--json", a->json, "For programs");
  command->footer(
      "Example:\n  plimsoll evaluate digits.keras --data test.npz --loss sparse_categorical_crossentropy "
      "--metrics accuracy");
  command->callback([a] { run(*a); });
}

// plimsoll evaluate: the loss and metrics of a model on a file of data.
#include <fmt/format.h>

#include "command.h"
#include "data_source.h"
#include "events.h"
#include "model_source.h"

namespace {

using namespace plimsoll;

struct EvaluateOptions {
  std::string model;
  std::vector<std::string> loss, metrics;
  cli::DataArguments data;
  int64_t batch = 32;
  bool json = false;
};

void run(const EvaluateOptions& a) {
  Model model = cli::open_model(a.model);
  if (!a.loss.empty()) {
    CompileArgs args;
    std::vector<Loss> losses;
    for (const std::string& name : a.loss) losses.emplace_back(name);
    args.loss = losses;
    for (const std::string& name : a.metrics) args.metrics.emplace_back(name);
    model.compile(args);
  }
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
  command->add_option("--loss", a->loss, "By Keras's name; default: the loss in the file");
  command->add_option("--metrics", a->metrics, "Such as accuracy; with --loss");
  command->add_option("--batch", a->batch, "Records per step")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_flag("--json", a->json, "For programs");
  command->footer("Example:\n  plimsoll evaluate digits.keras --data test.npz --loss sparse_categorical_crossentropy --metrics accuracy");
  command->callback([a] { run(*a); });
}

// plimsoll inspect: what is in a model file, and what wrote it.
#include <fmt/format.h>

#include "command.h"
#include "model_source.h"
#include "plimsoll/memory.h"

namespace {

using namespace plimsoll;

void print_origin(const std::string& path, const ModelFileInfo& info) {
  fmt::print("{}: {}, {}\n", path, info.kind, memory_text(info.bytes));
  std::string origin = info.writer;
  if (!info.keras_version.empty()) {
    origin +=
        fmt::format("{} {}", info.writer.empty() ? "Keras" : " in the format of Keras", info.keras_version);
  }
  if (!info.backend.empty()) origin += fmt::format(" on {}", info.backend);
  if (!info.date_saved.empty()) origin += fmt::format(", {}", info.date_saved);
  if (!origin.empty()) fmt::print("written by {}\n", origin);
}

void print_compiled(const Model& model) {
  if (!model.compiled()) return fmt::print(" Not compiled: train and evaluate need --loss\n");
  const CompileArgs& args = model.compile_args();
  std::string losses;
  const auto name_of = [](const Loss& loss) { return loss ? loss->class_name() : "none"; };
  for (const Loss& loss : args.loss.list) losses += fmt::format(" {}", name_of(loss));
  for (const auto& [name, loss] : args.loss.by_name) losses += fmt::format(" {}: {}", name, name_of(loss));
  fmt::print(" Compiled with {}, learning rate {:g}, loss{}\n", args.optimizer->class_name(),
             model.learning_rate(), losses);
}

void run(const std::string& path) {
  const ModelFileInfo info = describe_model_file(path);
  print_origin(path, info);
  if (!info.has_model && !info.arrays.empty()) {
    for (const auto& [name, type] : info.arrays) fmt::print("  {}: {}\n", name, type.str());
    return;
  }
  const Model model = cli::open_model(path);
  fmt::print("{}", model.summary());
  print_compiled(model);
}

}  // namespace

void cmd_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("inspect", "Show the layers, shapes and sizes of a model file, and what wrote it");
  command->add_option("file", *path, "A .keras, .h5, .weights.h5, .json or .yaml file")
      ->required()
      ->check(CLI::ExistingFile);
  command->footer("Example:\n  plimsoll inspect model.h5");
  command->callback([path] { run(*path); });
}

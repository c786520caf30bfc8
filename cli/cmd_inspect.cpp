// plimsoll inspect: what is in a model file.
#include <fmt/format.h>

#include "command.h"
#include "model_source.h"

namespace {

void run(const std::string& path) {
  const plimsoll::Model model = plimsoll::cli::open_model(path);
  fmt::print("{}", model.summary());
}

}  // namespace

void cmd_inspect(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("inspect", "Show the layers, shapes and sizes of a model file");
  command->add_option("file", *path, "A .keras, .h5, .json or .yaml file")->required()->check(CLI::ExistingFile);
  command->footer("Example:\n  plimsoll inspect model.h5");
  command->callback([path] { run(*path); });
}

// plimsoll convert: the same model in another kind of file.
#include <fmt/format.h>

#include "command.h"
#include "model_source.h"

namespace {

using namespace plimsoll;

void run(const std::string& from, const std::string& to) {
  const Model model = cli::open_model(from);
  model.save(to);
  fmt::print("{}: {} layers, {} weights\n", to, model.layers().size(), model.count_params());
}

}  // namespace

void cmd_convert(CLI::App& app) {
  struct ConvertOptions {
    std::string from, to;
  };
  auto a = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand("convert", "Write a model as another kind of file");
  command->add_option("from", a->from, "A .keras, .h5, .json or .yaml file")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("to", a->to, "A .keras, .h5, .weights.h5 or .json file")->required();
  command->footer("Example:\n  plimsoll convert old.h5 new.keras");
  command->callback([a] { run(a->from, a->to); });
}

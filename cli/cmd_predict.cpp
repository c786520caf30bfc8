// plimsoll predict: runs a model over a file of data and writes what it says.
#include <fmt/format.h>

#include <filesystem>

#include "command.h"
#include "data_source.h"
#include "memory_option.h"
#include "model_source.h"
#include "outputs.h"
#include "plimsoll/error.h"
#include "plimsoll/npy.h"

namespace {

using namespace plimsoll;

struct PredictOptions {
  std::string model, output, device, memory;
  cli::DataArguments data;
  int64_t batch = 32;
};

void write(const std::string& path, const Model& model, const std::vector<Tensor>& results) {
  const std::string suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".npz") {
    NamedTensors named;
    const std::vector<std::string> names = model.output_names();
    for (size_t i = 0; i < results.size(); ++i) {
      const bool is_named = results.size() > 1 && names.size() == results.size();
      named.emplace_back(is_named ? names[i] : results.size() == 1 ? "y" : fmt::format("y_{}", i), results[i]);
    }
    return write_npz(path, named);
  }
  require(results.size() == 1, path, "the model has ", results.size(), " outputs: write a .npz");
  if (suffix == ".npy") return write_npy(path, results[0]);
  write_csv(path, results[0]);
}

void run(const PredictOptions& a) {
  cli::check_writable("--output", a.output, {".npy", ".npz", ".csv"});
  cli::draw_line(a.memory);
  Model model = cli::open_model(a.model);
  model.set_device(a.device);
  const std::vector<Tensor> results =
      model.predict(cli::open_data(a.data, model, false).batch(a.batch).prefetch(2));
  write(a.output, model, results);
  for (const Tensor& y : results) fmt::print("{}: {}\n", a.output, y.type().str());
}

}  // namespace

void cmd_predict(CLI::App& app) {
  auto a = std::make_shared<PredictOptions>();
  CLI::App* command = app.add_subcommand("predict", "Run a model over a file of data");
  command->add_option("model", a->model, "A .keras or .h5 file")->required()->check(CLI::ExistingFile);
  cli::add_data_options(*command, a->data, false);
  command->add_option("--output", a->output, "Where to write: .npy, .npz or .csv")->required();
  command->add_option("--batch", a->batch, "Records per step")->check(cli::positive())->capture_default_str();
  cli::add_memory_option(*command, a->memory);
  command->add_option("--device", a->device,
                      "What to run on, as `plimsoll devices` lists. Default: the best there is");
  command->footer("Example:\n  plimsoll predict digits.keras --data test.npz --output probabilities.npy");
  command->callback([a] { run(*a); });
}

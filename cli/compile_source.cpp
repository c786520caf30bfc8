#include "compile_source.h"

#include <cmath>

#include "command.h"
#include "plimsoll/error.h"

namespace plimsoll::cli {

void add_compile_options(CLI::App& command, CompileOptions& o, bool trains) {
  command.add_option("--loss", o.loss,
                     "By Keras's name, such as mse; one per output. Default: the loss in the file");
  command.add_option("--metrics", o.metrics, "Such as accuracy. Default: those in the file");
  command.add_option("--threads", o.threads, "Default: all this process may use")->check(cli::positive());
  command.add_option("--device", o.device,
                     "What to run on, as `plimsoll devices` lists. Default: the best there is");
  if (!trains) return;
  command.add_option("--optimizer", o.optimizer, "By Keras's name. Default: the one in the file, else adam");
  command.add_option("--learning-rate", o.learning_rate, "Default: the optimizer's")->check(cli::positive());
}

void compile(Model& model, const CompileOptions& o) {
  require(std::isfinite(o.learning_rate), "--learning-rate", "expected a number above 0, got ",
          o.learning_rate);
  require(
      model.compiled() || !o.loss.empty(), "--loss",
      "expected one, since the file of the model has none: such as --loss sparse_categorical_crossentropy "
      "(classes by number) or --loss mse (numbers)");
  if (!o.loss.empty() || !o.metrics.empty() || !o.optimizer.empty()) {
    CompileArgs args;
    args.optimizer = "adam";
    if (model.compiled()) args = model.compile_args();
    if (!o.optimizer.empty()) args.optimizer = Optimizer(o.optimizer);
    if (!o.loss.empty()) args.loss = std::vector<Loss>(o.loss.begin(), o.loss.end());
    if (!o.metrics.empty()) {
      args.metrics.assign(o.metrics.begin(), o.metrics.end());
      args.metrics_per_output = PerOutput<std::vector<Metric>>();
    }
    model.compile(args);
  }
  if (o.learning_rate > 0) model.set_learning_rate(o.learning_rate);
  model.set_threads(o.threads);
  model.set_device(o.device);
}

}  // namespace plimsoll::cli

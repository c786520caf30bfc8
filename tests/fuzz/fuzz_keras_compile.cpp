// How a model was compiled: Keras 3's compile_config and the training_config of older files.
#include "fuzz.h"
#include "keras_io/compile_config.h"
#include "keras_io/json.h"
#include "keras_io/upgrade.h"
#include "plimsoll/error.h"
#include "plimsoll/log.h"

using namespace plimsoll;
using namespace plimsoll::keras_io;

std::vector<std::string> seeds() {
  return {R"({"optimizer": {"module": "keras.optimizers", "class_name": "Adam", "config": {"name": "adam",
          "learning_rate": {"class_name": "CosineDecay", "config": {"initial_learning_rate": 0.1, "decay_steps": 10}}},
          "registered_name": null}, "loss": {"a": "mse", "b": {"class_name": "Huber", "config": {"delta": 0.5}}},
          "loss_weights": [1, 0.5], "metrics": [["accuracy"], [{"class_name": "AUC", "config": {"num_thresholds": 5}}]]})",
          R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.01, "decay": 1e-6, "momentum": 0.9,
          "nesterov": true}}, "loss": "categorical_crossentropy", "metrics": ["acc", "top_k_categorical_accuracy"],
          "sample_weight_mode": null, "loss_weights": null})"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  set_log_sink([](LogLevel, std::string_view, std::string_view) {});  // of metrics that are left out
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool old : {false, true}) {
    try {
      Json config = parse_json(text, "input");
      if (old) config = upgrade_training_config(config);
      upgrade_compile_config(config);
      const CompileArgs args = compile_args_from_json(config, "input");
      if (args.optimizer) compile_args_to_json(args);
    } catch (const Error&) {
      // The right answer to a garbled config.
    }
  }
  return 0;
}

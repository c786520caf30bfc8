// plimsoll demo: trains a small convolutional network on Fashion-MNIST, saves it, loads it, and shows what it
// says.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "command.h"
#include "curves.h"
#include "forecast_text.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"

namespace {

using namespace plimsoll;

constexpr const char* kClasses[] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "boot"};
constexpr int64_t kBatch = 128;

struct DemoOptions {
  std::string data = "data/fashion_mnist_12k.npz", output = "demo";
  int64_t epochs = 20;
};

struct Images {
  Tensor x, y;
};

Tensor named(const NamedTensors& arrays, const std::string& name, const std::string& path) {
  for (const auto& [key, array] : arrays) {
    if (key == name) return array;
  }
  fail(ErrorKind::bad_file, path, "has no array '", name, "'");
}

Model make_model() {
  return Sequential({Input({28, 28, 1}), Rescaling(1.0 / 255), Conv2D(32, 3, {.activation = "relu"}),
                     MaxPooling2D(2), Conv2D(64, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
                     Dropout(0.5), Dense(10, {.activation = "softmax"})});
}

int64_t best_class(const Tensor& probabilities, int64_t row) {
  const float* p = probabilities.data<float>() + row * 10;
  return std::max_element(p, p + 10) - p;
}

// Some images of the test set, each with what the model says; as many wrong ones as there are among them.
std::vector<cli::Sample> samples(const Images& test, const Tensor& probabilities) {
  std::vector<cli::Sample> list;
  const int64_t step = test.x.dim(0) / 18;
  for (int64_t i = 0; i < 18; ++i) {
    const int64_t row = i * step;
    const int64_t said = best_class(probabilities, row), truth = test.y.data<uint8_t>()[row];
    cli::Sample sample;
    sample.pixels = Tensor::from_bytes(DType::u8, {28, 28}, test.x.data<uint8_t>() + row * 28 * 28);
    sample.right = said == truth;
    sample.caption =
        sample.right ? kClasses[said] : fmt::format("{} (is: {})", kClasses[said], kClasses[truth]);
    list.push_back(std::move(sample));
  }
  return list;
}

void run(const DemoOptions& o) {
  const NamedTensors arrays = read_npz(o.data);
  const Images train{named(arrays, "x_train", o.data), named(arrays, "y_train", o.data)};
  const Images test{named(arrays, "x_test", o.data), named(arrays, "y_test", o.data)};
  std::filesystem::create_directories(o.output);
  const std::string file = o.output + "/fashion.keras";

  set_random_seed(1);
  Model model = make_model();
  model.compile(
      {.optimizer = Adam(1e-3), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  fmt::print("{}\n{}", model.summary(), cli::forecast_text(forecast(model, kBatch), kBatch));
  fmt::print("beside it, the images themselves: {}\n\n", memory_text(memory_use().engine));
  const auto start = std::chrono::steady_clock::now();
  const History history = model.fit(
      train.x, train.y,
      {.batch_size = kBatch, .epochs = o.epochs, .validation_x = {test.x}, .validation_y = {test.y}});
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const MemoryUse use = memory_use();
  fmt::print("\ntrained {:.1f} s; validation accuracy {:.2f} %\n", spent.count(),
             100 * history["val_accuracy"].back());
  fmt::print("measured peak: {} held by the engine, {} resident in the process\n",
             memory_text(use.engine_peak), memory_text(use.resident_peak));

  model.save(file);
  Model loaded = load_model(file);
  const Tensor probabilities = loaded.predict(test.x, {.batch_size = kBatch});
  const Tensor before = model.predict(test.x, {.batch_size = kBatch});
  require(std::equal(before.data<float>(), before.data<float>() + before.shape().elements(),
                     probabilities.data<float>()),
          file, "the loaded model predicts other numbers than the saved one");
  cli::write_text(o.output + "/curves.svg", cli::curves_svg(history));
  cli::write_text(o.output + "/predictions.svg", cli::samples_svg(samples(test, probabilities)));
  fmt::print("wrote {0}, loaded it again (same predictions), drew {1}/curves.svg and {1}/predictions.svg\n",
             file, o.output);
}

}  // namespace

void cmd_demo(CLI::App& app) {
  auto o = std::make_shared<DemoOptions>();
  CLI::App* command =
      app.add_subcommand("demo", "Train a small network on Fashion-MNIST, save it and show what it says");
  command->add_option("--data", o->data, "The images")->check(CLI::ExistingFile)->capture_default_str();
  command->add_option("--epochs", o->epochs)->check(cli::positive())->capture_default_str();
  command->add_option("--output", o->output, "The folder for the model and the pictures")
      ->capture_default_str();
  command->callback([o] { run(*o); });
}

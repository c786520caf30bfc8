// fashion_fit MODEL SEED EPOCHS DATA.npz: trains the CNN or MLP of fashion_parity.py and prints its
// validation accuracy.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

Sequential make_model(const std::string& name) {
  if (name == "mlp") {
    return Sequential({Input({28, 28}), Rescaling(1.0 / 255), Flatten(), Dense(128, {.activation = "relu"}),
                       Dropout(0.2), Dense(10, {.activation = "softmax"})});
  }
  return Sequential({Input({28, 28, 1}), Rescaling(1.0 / 255), Conv2D(16, 3, {.activation = "relu"}),
                     MaxPooling2D(2), Conv2D(32, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(),
                     Dropout(0.3), Dense(10, {.activation = "softmax"})});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  try {
    set_random_seed(static_cast<uint64_t>(std::atoi(argv[2])));
    Sequential model = make_model(argv[1]);
    model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
    const auto part = [&](const char* x, const char* y) {
      return Dataset::npz(argv[4], {.x = {x}, .y = {y}});
    };
    const History h = model.fit(
        part("x_train", "y_train").shuffle(static_cast<uint64_t>(next_seed())).batch(64),
        {.epochs = std::atoi(argv[3]), .verbose = 0, .validation_data = part("x_test", "y_test").batch(500)});
    std::printf("%.4f\n", h["val_accuracy"].back());
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fashion_fit: %s\n", e.what());
    return 1;
  }
}

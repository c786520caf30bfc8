#include <cstdio>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/npy.h"

using namespace plimsoll;

int main() try {
  const NamedTensors data = read_npz("data/fashion_mnist_12k.npz");
  const Tensor x = data["x_train"], y = data["y_train"], x_test = data["x_test"], y_test = data["y_test"];

  Sequential model({Input({28, 28, 1}), Rescaling(1.0 / 255), Conv2D(16, 3, {.activation = "relu"}),
                    MaxPooling2D(2), Flatten(), Dropout(0.25), Dense(10, {.activation = "softmax"})});
  model.compile(
      {.optimizer = Adam(2e-3), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(x, y, {.batch_size = 64, .epochs = 2, .validation_split = 0.1, .memory = "200MiB"});
  model.save("/tmp/fashion.keras");  // opens in Keras 3

  Model loaded = load_model("/tmp/fashion.keras");
  const double accuracy = loaded.evaluate(x_test, y_test)["accuracy"];
  std::printf("accuracy on images it has not seen: %.3f\n", accuracy);
  return accuracy > 0.75 ? 0 : 1;
} catch (const Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

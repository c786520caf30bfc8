// ModelCheckpoint, CSVLogger, LambdaCallback, LearningRateScheduler; the best model loaded.
#include <cstdio>
#include "plimsoll/callbacks.h"
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  set_random_seed(1);
  Sequential model({Input({4}), Dense(8, {.activation = "relu"}), Dropout(0.1), Dense(1)});
  model.compile({.optimizer = "rmsprop", .loss = "mae"});
  int epochs = 0;
  Tensor x = Tensor::full(DType::f32, {64, 4}, 1), y = Tensor::full(DType::f32, {64, 1}, 3);
  model.fit(x, y, {.epochs = 5, .verbose = 0,
                   .callbacks = {ModelCheckpoint("/tmp/p14.keras", {.monitor = "val_loss", .save_best_only = true}), CSVLogger("/tmp/p14.csv"),
                                 LearningRateScheduler([](int64_t e, double lr) { return e < 2 ? lr : lr * 0.5; }),
                                 LambdaCallback({.on_epoch_end = [&](int64_t, Logs&) { ++epochs; }})},
                   .validation_data = {x, y}});
  Model best = load_model("/tmp/p14.keras");
  std::printf("%d %f\n", epochs, best.evaluate(x, y)["loss"]);
  return epochs == 5 ? 0 : 1;
}

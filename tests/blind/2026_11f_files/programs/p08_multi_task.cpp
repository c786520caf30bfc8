// Two inputs, two outputs, losses by name, early stopping, class weights, learning-rate schedule.
#include <cstdio>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  set_random_seed(2);
  Symbol text = Input({5}, {.dtype = "int32", .name = "text"}), meta = Input({2}, {.name = "meta"});
  Symbol h = GlobalAveragePooling1D()(Embedding(20, 8)(text));
  h = Dense(16, {.activation = "relu"})(Concatenate()({h, meta}));
  Model model({text, meta}, {Dense(1, {.activation = "sigmoid", .name = "spam"})(h), Dense(3, {.activation = "softmax", .name = "topic"})(h)});
  model.compile({.optimizer = AdamW(ExponentialDecay(1e-2, 100, 0.9)),
                 .loss = {{"spam", "binary_crossentropy"}, {"topic", "sparse_categorical_crossentropy"}},
                 .loss_weights = {{"spam", 1.0}, {"topic", 0.5}},
                 .metrics_per_output = {{"spam", {"accuracy"}}, {"topic", {"accuracy"}}}});
  Tensor t = Tensor::full(DType::i32, {32, 5}, 3), m = Tensor::zeros(DType::f32, {32, 2});
  History h2 = model.fit({t, m}, {Tensor::zeros(DType::f32, {32, 1}), Tensor::zeros(DType::i32, {32})},
                         {.epochs = 4, .verbose = 0, .callbacks = {EarlyStopping({.monitor = "loss", .patience = 2}), ReduceLROnPlateau({.monitor = "loss"})}});
  std::printf("%f %f\n", h2["spam_accuracy"].back(), h2["topic_loss"].back());
  return h2["loss"].back() < h2["loss"].front() ? 0 : 1;
}

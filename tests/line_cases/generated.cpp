#include "line_cases/generated.h"

#include "plimsoll/contents.h"

namespace plimsoll::testing {
namespace {

Ints sizes(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

Generated::Generated(uint32_t seed, int64_t scale) : random_(seed), scale_(scale) {
  set_random_seed(seed);
  const int64_t kind = below(5);
  Sequential m = kind < 2 ? image_network() : kind < 4 ? dense_network() : sequence_network();
  m.add(Dense(3));
  const char* const optimizers[] = {"sgd", "adam", "rmsprop"};
  m.compile({.optimizer = optimizers[below(3)], .loss = "mse", .threads = static_cast<int>(1 + below(2))});
  model = m;
  batch = 8 + below(120 * scale_);
  rows = batch * (1 + below(2)) + below(batch);
  x_ = Tensor::full(DType::f32, sample_.inserted(0, rows), 0.5);
  y_ = Tensor::zeros(DType::f32, {rows, 3});
  micro_batch = seed % 2 == 0 ? "never" : "auto";
  const MemoryForecast f = forecast(model, batch);
  const int64_t data = 4 * rows * (sample_.elements() + 3);
  line = f.total() - f.arena + data + f.arena * (20 + below(90)) / 100 + below(2) * 2 * f.programs;
}

void Generated::fit(const std::string& memory, std::vector<CallbackPtr> callbacks) {
  callbacks.push_back(LambdaCallback({.on_train_batch_begin = [&](int64_t) { ++batches; }}));
  model.fit(x_, y_,
            {.batch_size = batch,
             .verbose = 0,
             .callbacks = std::move(callbacks),
             .memory = memory,
             .micro_batch = micro_batch});
}

Sequential Generated::dense_network() {
  sample_ = Shape{4 + below(60)};
  Sequential m({Input(sizes(sample_))});
  const char* const activations[] = {"relu", "tanh", "gelu", "linear"};
  for (int64_t i = 2 + below(5); i > 0; --i) {
    m.add(Dense(8 + below(120 * scale_), {.activation = activations[below(4)]}));
    if (below(4) == 0) m.add(Dropout(0.3));
    if (below(4) == 0) m.add(LayerNormalization());
  }
  return m;
}

Sequential Generated::image_network() {
  sample_ = Shape{8, 8, 1 + below(3)};
  Sequential m({Input(sizes(sample_))});
  for (int64_t i = 2 + below(5); i > 0; --i) {
    m.add(Conv2D(4 + below(12 * scale_), 3,
                 {.padding = "same", .activation = below(2) == 0 ? "relu" : "tanh"}));
    if (below(2) == 0) m.add(BatchNormalization());
    if (below(4) == 0) m.add(Dropout(0.2));
  }
  m.add(Flatten());
  return m;
}

Sequential Generated::sequence_network() {
  sample_ = Shape{4 + below(12), 2 + below(6)};
  Sequential m({Input(sizes(sample_))});
  if (below(2) == 0) m.add(Dense(8 + below(16), {.activation = "relu"}));
  const int64_t units = 4 + below(12 * scale_);
  m.add(below(2) == 0 ? LSTM(units) : GRU(units));
  return m;
}

std::vector<char> bytes_of(const Model& model) {
  std::vector<char> all;
  for (const Tensor& t : model.get_weights()) {
    const char* const bytes = static_cast<const char*>(read_bytes(t));
    all.insert(all.end(), bytes, bytes + byte_size(t.dtype(), t.shape()));
  }
  return all;
}

}  // namespace plimsoll::testing

// Rows of whole fit() calls: one epoch over arrays, shuffled, with accuracy, as the peers' rounds are. The
// models are those of peers.py, written with layers. start_NAME is the first step of fit_NAME alone.
#include <memory>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "rows.h"
#include "support/fill.h"

namespace plimsoll::bench {
namespace {

using testing::fill;

struct FitRow {
  std::string_view name;
  int64_t batch, steps;  // as in peers.py
  Model (*make)();
  Shape input;
  int64_t classes;    // 1: a probability
  int64_t words = 0;  // 0: the inputs are floats
};

constexpr std::string_view kHalves = "_bf16";  // under the policy mixed_bfloat16

Layer conv(int64_t filters) { return Conv2D(filters, 3, {.activation = "relu"}); }

Model mlp10() {
  return Sequential({Input({10}), Dense(64, {.activation = "relu"}), Dense(32, {.activation = "relu"}),
                     Dense(1, {.activation = "sigmoid"})});
}
Model mlp100() {
  return Sequential({Input({100}), Dense(64, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
}
Model mnist() {
  return Sequential({Input({28, 28, 1}), conv(32), MaxPooling2D(2), conv(64), MaxPooling2D(2), Flatten(),
                     Dropout(0.5), Dense(10, {.activation = "softmax"})});
}
Model cnn64bn() {
  Sequential model({Input({64, 64, 3})});
  for (const int64_t filters : {32, 64, 128}) {
    for (const Layer& layer : {conv(filters), BatchNormalization(), MaxPooling2D(2)}) model.add(layer);
  }
  for (const Layer& layer :
       {Flatten(), Dense(128, {.activation = "relu"}), Dropout(0.5), Dense(10, {.activation = "softmax"})}) {
    model.add(layer);
  }
  return model;
}
Model cnn100() {
  return Sequential({Input({100, 100, 3}), conv(32), MaxPooling2D(2), conv(64), MaxPooling2D(2), Flatten(),
                     Dense(128, {.activation = "relu"}), Dense(10, {.activation = "softmax"})});
}
Model lstm() {
  return Sequential({Input({80}, {.dtype = DType::i32}), Embedding(20000, 128), LSTM(128),
                     Dense(1, {.activation = "sigmoid"})});
}
Model transformer() {
  const Symbol words = Input({128}, {.dtype = DType::i32});
  Symbol x = Embedding(8000, 256)(words);
  for (int i = 0; i < 4; ++i) {
    x = LayerNormalization()(Add()({x, MultiHeadAttention(8, 32)({x, x})}));
    x = LayerNormalization()(Add()({x, Dense(256)(Dense(1024, {.activation = "gelu"})(x))}));
  }
  return Model({words}, {Dense(10, {.activation = "softmax"})(GlobalAveragePooling1D()(x))});
}

Symbol normed(const Symbol& x, int64_t filters, int64_t size, int64_t stride, bool same) {
  const Symbol y =
      Conv2D(filters, size, {.strides = {stride, stride}, .padding = same ? "same" : "valid"})(x);
  return BatchNormalization({.epsilon = 1.001e-5})(y);
}
Symbol residual(const Symbol& x, int64_t filters, int64_t stride, bool first) {
  const Symbol shortcut = first ? normed(x, 4 * filters, 1, stride, false) : x;
  Symbol y = Activation("relu")(normed(x, filters, 1, stride, false));
  y = Activation("relu")(normed(y, filters, 3, 1, true));
  return Activation("relu")(Add()({shortcut, normed(y, 4 * filters, 1, 1, false)}));
}
// keras.applications.ResNet50.
Model resnet50() {
  const Symbol images = Input({224, 224, 3});
  Symbol x = Activation("relu")(normed(ZeroPadding2D(3)(images), 64, 7, 2, false));
  x = MaxPooling2D(3, {.strides = {2, 2}})(ZeroPadding2D(1)(x));
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int64_t stage = 0; stage < 4; ++stage) {
    for (int64_t i = 0; i < blocks[stage]; ++i)
      x = residual(x, 64 << stage, i == 0 && stage > 0 ? 2 : 1, i == 0);
  }
  return Model({images}, {Dense(10, {.activation = "softmax"})(GlobalAveragePooling2D()(x))});
}

const FitRow kRows[] = {{"mlp10_b32", 32, 200, mlp10, {10}, 1},
                        {"mlp100_b32", 32, 400, mlp100, {100}, 1},
                        {"mnist_b128", 128, 20, mnist, {28, 28, 1}, 10},
                        {"cnn64bn_b32", 32, 8, cnn64bn, {64, 64, 3}, 10},
                        {"cnn100_b512", 512, 1, cnn100, {100, 100, 3}, 10},
                        {"resnet50_b8", 8, 1, resnet50, {224, 224, 3}, 10},
                        {"lstm_b32", 32, 4, lstm, {80}, 1, 8000},
                        {"transformer_b16", 16, 3, transformer, {128}, 10, 8000}};

// While it lives, layers that have no policy of their own compute under mixed_bfloat16.
class MixedPolicy {
 public:
  explicit MixedPolicy(bool on) {
    if (on) set_dtype_policy("mixed_bfloat16");
  }
  MixedPolicy(const MixedPolicy&) = delete;
  MixedPolicy& operator=(const MixedPolicy&) = delete;
  ~MixedPolicy() { set_dtype_policy("float32"); }
};

Round round_of(const FitRow& row, int64_t steps, bool halves, int threads, std::string_view device) {
  const MixedPolicy policy(halves);
  auto model = std::make_shared<Model>(row.make());
  const bool binary = row.classes == 1;
  model->compile({.optimizer = "adam",
                  .loss = binary ? "binary_crossentropy" : "sparse_categorical_crossentropy",
                  .metrics = {"accuracy"},
                  .threads = threads,
                  .device = std::string(device)});
  const int64_t n = row.batch * steps;
  const Shape shape = row.input.inserted(0, n);
  const Tensor x = row.words > 0 ? fill(DType::i32, shape, 0, static_cast<double>(row.words - 1), 1)
                                 : fill(DType::f32, shape, 0, 1, 1);
  const Tensor y = binary ? fill(DType::i32, {n, 1}, 0, 1, 2)
                          : fill(DType::i32, {n}, 0, static_cast<double>(row.classes - 1), 2);
  Round round;
  round.count = steps;
  round.run = [=, batch = row.batch] {
    const MixedPolicy during(halves);
    model->fit(x, y, {.batch_size = batch, .verbose = 0});
  };
  return round;
}

}  // namespace

std::vector<std::string> fit_row_names() {
  std::vector<std::string> names;
  for (const FitRow& row : kRows) {
    names.push_back(concat("fit_", row.name));
    names.push_back(concat("fit_", row.name, kHalves));
  }
  return names;
}

bool is_fit_row(std::string_view name) { return name.starts_with("fit_") || name.starts_with("start_"); }

Round make_fit_row(std::string_view name, int threads, std::string_view device) {
  for (const FitRow& row : kRows) {
    if (name == concat("fit_", row.name)) return round_of(row, row.steps, false, threads, device);
    if (name == concat("fit_", row.name, kHalves)) return round_of(row, row.steps, true, threads, device);
    if (name == concat("start_", row.name)) return round_of(row, 1, false, threads, device);
  }
  fail(ErrorKind::not_found, "bench", "there is no row '", name, "'");
}

}  // namespace plimsoll::bench

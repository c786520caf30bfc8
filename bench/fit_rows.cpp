// Rows of whole fit() calls: one epoch over arrays, shuffled, with accuracy, as the peers' rounds are.
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
  int64_t batch, steps;
  Model (*make)();
  Shape input;
  int64_t classes;  // 1: a probability
};

Model mlp100() {
  return Sequential({Input({100}), Dense(64, {.activation = "relu"}), Dense(1, {.activation = "sigmoid"})});
}
Model mnist() {
  return Sequential({Input({28, 28, 1}), Conv2D(32, 3, {.activation = "relu"}), MaxPooling2D(2),
                     Conv2D(64, 3, {.activation = "relu"}), MaxPooling2D(2), Flatten(), Dropout(0.5),
                     Dense(10, {.activation = "softmax"})});
}

const FitRow kRows[] = {{"fit_mlp100_b32", 32, 400, mlp100, {100}, 1},
                        {"fit_mnist_b128", 128, 20, mnist, {28, 28, 1}, 10}};

}  // namespace

std::vector<std::string> fit_row_names() {
  std::vector<std::string> names;
  for (const FitRow& row : kRows) names.emplace_back(row.name);
  return names;
}

Round make_fit_row(std::string_view name, int threads) {
  for (const FitRow& row : kRows) {
    if (row.name != name) continue;
    auto model = std::make_shared<Model>(row.make());
    const bool binary = row.classes == 1;
    model->compile({.optimizer = "adam",
                    .loss = binary ? "binary_crossentropy" : "sparse_categorical_crossentropy",
                    .metrics = {"accuracy"},
                    .threads = threads});
    const int64_t n = row.batch * row.steps;
    const Tensor x = fill(DType::f32, row.input.inserted(0, n), 0, 1, 1);
    const Tensor y = binary ? fill(DType::i32, {n, 1}, 0, 1, 2)
                            : fill(DType::i32, {n}, 0, static_cast<double>(row.classes - 1), 2);
    Round round;
    round.count = row.steps;
    round.run = [=, batch = row.batch] { model->fit(x, y, {.batch_size = batch, .verbose = 0}); };
    return round;
  }
  fail(ErrorKind::not_found, "bench", "there is no row '", name, "'");
}

}  // namespace plimsoll::bench

// A multi-layer perceptron on a table: two noisy half moons. Prints its accuracy on points it has not seen.
#include <cmath>
#include <cstdio>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

struct Table {
  Tensor x, y;
};

Table half_moons(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> angle(0.0f, 3.14159f);
  std::normal_distribution<float> noise(0.0f, 0.15f);
  Table t{Tensor::empty(DType::f32, {count, 2}), Tensor::empty(DType::i32, {count})};
  for (int64_t i = 0; i < count; ++i) {
    const float a = angle(random);
    const bool upper = i % 2 == 0;
    t.x.data<float>()[2 * i] = (upper ? std::cos(a) : 1 - std::cos(a)) + noise(random);
    t.x.data<float>()[2 * i + 1] = (upper ? std::sin(a) : 0.5f - std::sin(a)) + noise(random);
    t.y.data<int32_t>()[i] = upper ? 0 : 1;
  }
  return t;
}

double run() {
  set_random_seed(1);
  const Table train = half_moons(2000, 1), test = half_moons(1000, 2);
  Sequential model({Input({2}), Dense(32, {.activation = "relu"}), Dense(32, {.activation = "relu"}),
                    Dense(2, {.activation = "softmax"})});
  model.compile(
      {.optimizer = Adam(0.01), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  model.fit(train.x, train.y, {.batch_size = 50, .epochs = 8, .verbose = 2, .validation_split = 0.1});
  return get_log(model.evaluate(test.x, test.y), "accuracy");
}

}  // namespace

int main() {
  try {
    const double accuracy = run();
    std::printf("accuracy on new points: %.3f\n", accuracy);
    return accuracy > 0.95 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

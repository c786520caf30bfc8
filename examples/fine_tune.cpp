// Fine-tuning: takes a trained model from a file, cuts it before its last layer, freezes what is left and
// puts a new head on it.   fine_tune [model.h5]   (without a file it first trains and saves one)
#include <cstdio>
#include <filesystem>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/model.h"

using namespace plimsoll;

namespace {

// Points in a square; class of the old task: the quarter they lie in, of the new one: inside the diamond or
// not.
struct Points {
  Tensor x, quarter, inside;
};

Points points(int64_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Points p{Tensor::empty(DType::f32, {count, 2}), Tensor::empty(DType::i32, {count}),
           Tensor::empty(DType::f32, {count, 1})};
  for (int64_t i = 0; i < count; ++i) {
    const float a = uniform(random), b = uniform(random);
    p.x.data<float>()[2 * i] = a;
    p.x.data<float>()[2 * i + 1] = b;
    p.quarter.data<int32_t>()[i] = (a > 0 ? 1 : 0) + (b > 0 ? 2 : 0);
    p.inside.data<float>()[i] = (a < 0 ? -a : a) + (b < 0 ? -b : b) < 0.9f ? 1.0f : 0.0f;
  }
  return p;
}

void train_and_save(const Points& p, const std::string& path) {
  Sequential model({Input({2}), Dense(32, {.activation = "relu"}), Dense(32, {.activation = "relu"}),
                    Dense(4, {.activation = "softmax"})});
  model.compile({.optimizer = Adam(0.01), .loss = "sparse_categorical_crossentropy"});
  model.fit(p.x, p.quarter, {.epochs = 4, .verbose = 0});
  model.save(path);
}

double run(const std::string& path) {
  const Points p = points(4000);
  const Model old = load_model(path);
  const std::vector<Layer>& layers = old.layers();
  Sequential tuned(std::vector<Layer>{Input({2})}, "tuned");
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    if (layers[i]->class_name() == "InputLayer") continue;
    layers[i]->set_trainable(false);
    tuned.add(layers[i]);
  }
  tuned.add(Dense(1, {.activation = "sigmoid", .name = "head"}));
  tuned.compile({.optimizer = Adam(0.02), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  return tuned.fit(p.x, p.inside, {.epochs = 8, .verbose = 2})["accuracy"].back();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    set_random_seed(4);
    std::string path = argc > 1 ? argv[1] : "";
    if (path.empty()) {
      path = (std::filesystem::temp_directory_path() / "plimsoll_quarters.h5").string();
      train_and_save(points(4000), path);
    }
    const double accuracy = run(path);
    std::printf("accuracy of the new head: %.3f\n", accuracy);
    return accuracy > 0.8 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

// A layer of one's own in one small class: here, a feature cross that learns how much each product of two
// features counts.
#include <cstdio>
#include <random>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "plimsoll/ops.h"

using namespace plimsoll;

namespace {

// y_k = sum over i, j of x_i W_kij x_j
struct Bilinear : LayerBase {
  int64_t units = 1;

  std::string_view class_name() const override { return "Bilinear"; }
  void fields(Fields& f) override { f("units", units); }  // what a saved file holds
  Tensor call(Scope& s, const Tensor& x) override {
    const int64_t n = x.dim(-1);
    const Tensor w = s.weight("kernel", {n, n * units}, "glorot_uniform");
    const Tensor left = reshape(matmul(x, w), Shape{x.dim(0), units, n});
    return sum(left * expand_dims(x, 1), {-1});
  }
};

double run() {
  set_random_seed(3);
  // Files that name the layer can be loaded from here on.
  register_class({Family::layer, "Bilinear", "", make_default<Bilinear>});
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const Tensor x = Tensor::empty(DType::f32, {1024, 3}), y = Tensor::empty(DType::f32, {1024, 1});
  for (int64_t i = 0; i < 1024; ++i) {
    float* row = x.data<float>() + 3 * i;
    for (int k = 0; k < 3; ++k) row[k] = uniform(random);
    y.data<float>()[i] = row[0] * row[1] - 2 * row[2] * row[2];
  }
  Sequential model({Input({3}), make_layer<Bilinear>()});
  model.compile({.optimizer = Adam(0.02), .loss = "mse"});
  return model.fit(x, y, {.epochs = 30, .verbose = 0})["loss"].back();
}

}  // namespace

int main() {
  try {
    const double loss = run();
    std::printf("loss after training: %.2e\n", loss);
    return loss < 1e-3 ? 0 : 1;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

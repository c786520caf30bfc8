// A layer of one's own with two weights, in a functional model, saved and loaded.
#include <cstdio>
#include "plimsoll/model.h"
#include "plimsoll/ops.h"
using namespace plimsoll;
struct Affine : LayerBase {
  int64_t units = 1;
  std::string_view class_name() const override { return "Affine"; }
  void fields(Fields& f) override { f("units", units); }
  Tensor call(Scope& s, const Tensor& x) override {
    return matmul(x, s.weight("w", {x.dim(-1), units}, "glorot_uniform")) + s.weight("b", {units}, "zeros");
  }
};
int main() {
  register_class({Family::layer, "Affine", "", make_default<Affine>});
  Layer l = make_layer<Affine>();
  Symbol i = Input({3});
  Model m(i, l(i) * 2.0);
  m.compile({.optimizer = "adam", .loss = "mse"});
  m.fit(Tensor::zeros(DType::f32, {4, 3}), Tensor::zeros(DType::f32, {4, 1}), {.verbose = 0});
  m.save("/tmp/p10.keras");
  Model n = load_model("/tmp/p10.keras");
  Tensor x = Tensor::of({{1, 2, 3}});
  return max(absolute(m(x) - n(x))).item() < 1e-6 ? 0 : 1;
}

// keras.Model(model.input, model.get_layer("features").output)
#include <iostream>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  Symbol in = Input({8, 8, 1});
  Symbol features = Conv2D(4, 3, {.name = "features"})(in);
  Symbol out = Dense(2)(Flatten()(features));
  Model model(in, out);
  Model part(model.input(), model.get_layer("features")->output());
  Tensor f = part.predict(Tensor::zeros(DType::f32, {2, 8, 8, 1}));
  std::cout << f.shape() << "\n";
  Model two(model.inputs(), {features, model.output()});
  auto both = two.predict({Tensor::zeros(DType::f32, {2, 8, 8, 1})});
  return both.size() == 2 && f.shape()[3] == 4 ? 0 : 1;
}

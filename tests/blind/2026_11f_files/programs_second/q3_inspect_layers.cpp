// Going through a model: names, shapes, weights of each layer.
#include <iostream>
#include "plimsoll/model.h"
using namespace plimsoll;
int main() {
  Sequential model({Input({8, 8, 3}), Conv2D(4, 3), BatchNormalization(), GlobalAveragePooling2D(), Dense(2)});
  for (const Layer& layer : model.layers()) std::cout << layer->name() << " " << layer->class_name() << " " << layer->output_shape() << " " << layer->count_params() << "\n";
  for (const std::string& name : model.output_names()) std::cout << name << "\n";
  Layer conv = model.layers()[0];
  return conv->output_shape()[3] == 4 && conv->get_weights()[0].shape() == Shape{3, 3, 3, 4} ? 0 : 1;
}

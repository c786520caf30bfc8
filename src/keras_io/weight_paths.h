// Where Keras 3 keeps each variable of a model in a weights file: "layers/dense_1/vars/0",
// "layers/lstm/cell/vars/2". Layers are told by class and number, not by name, and each variable by its
// number in the object that holds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/layer.h"

namespace plimsoll::keras_io {

struct StoredVariable {
  std::string group;  // "layers/dense_1"
  size_t index = 0;
  VariablePtr variable;
  std::string layer;         // the name of the layer, for messages and for the group's attribute "name"
  std::string path() const;  // "layers/dense_1/vars/0"
};

// Every variable once, group by group. Seed generators, which Keras does not store, come in groups of their
// own
// ("layers/dropout/seed_generator").
// `keras2`: as Keras 2.12 wrote .keras files. Its list of layers has another name, and each layer with
// weights stands in it twice and so takes two numbers.
std::vector<StoredVariable> stored_variables(const Layer& network, bool keras2 = false);
inline constexpr const char* kKeras2Layers = "_layer_checkpoint_dependencies";

}  // namespace plimsoll::keras_io

// The weights file of Keras 3, alone (.weights.h5) or inside a .keras: weights, and the state of the
// optimizer.
#pragma once

#include <span>

#include "keras_io/h5_tree.h"
#include "keras_io/h5_writer.h"
#include "keras_io/new_values.h"
#include "plimsoll/layer.h"
#include "train/optimizer_state.h"

namespace plimsoll::keras_io {

bool is_keras3_weights(const H5Group& root);

// `optimizer` may be null. The optimizer's state is left out where it has none yet.
void write_weights(H5Writer& file, const Layer& network, const OptimizerState* optimizer);

// Every weight from the file. Throws Error{bad_file} naming the file, the layer and the place, before any is
// read, if one is missing, has another shape or is no array of numbers. Several files: each has some.
void read_weights(std::span<const H5File> files, const Layer& network, NewValues& values);
inline void read_weights(const H5File& file, const Layer& network, NewValues& values) {
  read_weights({&file, 1}, network, values);
}
// The state, if all of it fits; else adds nothing and returns why not. Empty: it was read.
std::string read_optimizer(const H5File& file, const H5Group& group, const Layer& network,
                           OptimizerState& optimizer, NewValues& values);

// Makes the variables that the optimizer will keep for the network, before the first step.
std::vector<VariablePtr> built_variables(OptimizerState& optimizer, const Layer& network);

}  // namespace plimsoll::keras_io

// Weights as Keras 1 and 2 keep them, and Keras 3 in .h5 files: a group per layer, with its weights listed in
// order under "weight_names". Layers are found by name, or in order if the names are others.
#pragma once

#include "keras_io/h5_tree.h"
#include "keras_io/h5_writer.h"
#include "keras_io/new_values.h"
#include "layers/base/functional.h"
#include "train/optimizer_state.h"

namespace plimsoll::keras_io {

bool is_legacy_weights(const H5Group& group);

// `group` has "layer_names". Throws Error{bad_file} naming the layer if something is missing or has another
// shape.
void read_legacy_weights(const H5File& file, const H5Group& group, const Network& network, NewValues& values);
// `group` is "optimizer_weights". Reads them if all fit; else adds nothing and returns why not. Empty: they
// were read.
std::string read_legacy_optimizer(const H5File& file, const H5Group& group, const Network& network,
                                  OptimizerState& optimizer, NewValues& values);

void write_legacy_weights(H5Writer& file, const std::string& group, const Network& network);
void write_legacy_optimizer(H5Writer& file, const std::string& group, const OptimizerState& optimizer);

}  // namespace plimsoll::keras_io

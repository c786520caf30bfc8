// The tree of an HDF5 file, read by plimsoll-h5 (h5/process.h).
#pragma once

#include "keras_io/h5_tree.h"

namespace plimsoll::keras_io {

// Throws as H5File::read does.
H5Group read_h5_tree(const FileSource& source);

}  // namespace plimsoll::keras_io

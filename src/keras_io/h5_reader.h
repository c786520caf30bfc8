// Runs plimsoll-h5, the process that reads one HDF5 file by libhdf5 under limits, and collects what it finds.
#pragma once

#include "keras_io/h5_tree.h"

namespace plimsoll::keras_io {

// Throws as H5File::read does. The process is looked for in $PLIMSOLL_LIBEXEC, beside the program and in
// ../libexec/plimsoll from there, and where Plimsoll was installed.
H5Group read_h5_tree(const FileSource& source);

}  // namespace plimsoll::keras_io

// Whether the tables of an HDF5 file that say what is in its groups are all there. A transfer that went wrong
// leaves holes of zeros in files of the right length.
#pragma once

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

// Follows the groups of files as h5py writes them by default (superblock version 0 or 1) from the root down;
// others are left alone. Throws Error{bad_file} at the first table that is no table. Requires: it is an HDF5
// file.
void check_hdf5_groups(Bytes file);

}  // namespace plimsoll::doctor

// What an HDF5 type is to Plimsoll.
#pragma once

#include <hdf5.h>

#include <cstdint>

#include "h5/wire.h"

namespace plimsoll::h5 {

wire::Kind kind_of(hid_t type);

struct MemoryType {
  wire::Kind kind = wire::Kind::other;
  uint8_t dtype = 0;  // a DType
  hid_t type = -1;    // what to read numbers as: our dtype, in the byte order of the machine
};
// The type is libhdf5's own or `type` itself: it need not be closed and lives as long as `type`.
MemoryType memory_type(hid_t type);

// Whether a dataset made by this plan keeps its values in other files, none of which can be opened here.
bool is_elsewhere(hid_t plan);

}  // namespace plimsoll::h5

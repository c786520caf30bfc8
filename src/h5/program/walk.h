// Walks an HDF5 file that lies in memory, by libhdf5, and writes its tree to a descriptor (wire.h).
#pragma once

#include <cstddef>

namespace plimsoll::h5 {

// What libhdf5 refuses ends the stream with an error record. Throws std::exception if the stream cannot be
// written or memory runs out. The image may be written to.
void walk_image(void* image, size_t size, int output);

}  // namespace plimsoll::h5

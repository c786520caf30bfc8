// Walks an HDF5 file that lies in memory, by libhdf5, and writes its tree to a descriptor (h5_wire.h).
#pragma once

#include <cstddef>

namespace plimsoll::keras_io {

// What libhdf5 refuses ends the stream with an error record. Throws std::exception if the stream cannot be
// written or memory runs out. The image may be written to.
void walk_image(void* image, size_t size, int output);

}  // namespace plimsoll::keras_io

// Rows of the data sets of an HDF5 file, by the commands of wire.h.
#pragma once

#include <cstdint>
#include <functional>

namespace plimsoll::h5 {

// The file is on descriptor 0. Calls `needs_memory` before it takes so many bytes more for a cache. Throws
// std::exception once nobody speaks or reads any more.
void serve_rows(int socket, const std::function<void(uint64_t)>& needs_memory);

}  // namespace plimsoll::h5

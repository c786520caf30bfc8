// Lays out an HDF5 file by the commands of wire.h.
#pragma once

namespace plimsoll::h5 {

// Returns once the file is closed or could not be. Throws std::exception if nobody speaks or reads any more.
void write_file(const char* path, int socket);

}  // namespace plimsoll::h5

// Parses the stream of h5_wire.h, which may hold anything: libhdf5 may have been taken over by the file it
// read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "keras_io/h5_tree.h"

namespace plimsoll::keras_io {

// Gives exactly `count` bytes of the stream, or throws.
using ReadBytes = std::function<void(void* into, uint64_t count)>;

// Throws Error{bad_file} naming `name` if the stream is not well formed, says more than a file of `file_size`
// bytes can hold, or ends in an error, whose text the Error carries.
H5Group parse_h5_stream(const ReadBytes& read, uint64_t file_size, const std::string& name);

}  // namespace plimsoll::keras_io

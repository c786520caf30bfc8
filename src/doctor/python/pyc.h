// Compiled Python files (.pyc): whether one is whole, by walking over its marshalled objects.
#pragma once

#include <cstdint>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

struct PycHeader {
  uint32_t magic = 0, flags = 0, source_time = 0, source_size = 0;
};
// Throws Error{bad_file} if it has no header.
PycHeader read_pyc_header(Bytes file);

// False if the file ends in the midst of an object or holds what no Python writes; true where its version is
// not known. Python 3.8 to 3.14.
bool is_whole_pyc(Bytes file, unsigned minor);

}  // namespace plimsoll::doctor

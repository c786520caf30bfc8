// The dynamic loader's cache (/etc/ld.so.cache): which file a library name means on this system.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "doctor/formats/bytes.h"

namespace plimsoll::doctor {

// Files per library name, best first. Throws Error{bad_file} if the bytes are no such cache.
std::unordered_map<std::string, std::vector<std::string>> parse_ld_cache(Bytes file);

}  // namespace plimsoll::doctor

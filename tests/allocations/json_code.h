// Where the code of nlohmann-json lies in this program, and of the functions that it was inlined into.
#pragma once

namespace plimsoll::testing {

// Reads the program's table of symbols the first time (dladdr knows no hidden ones).
bool is_json_code(const void* address);

}  // namespace plimsoll::testing

// A rule of Python 3.11 that older projects break: the default of a dataclass's field may not be a thing that
// can change. Until then only lists, dicts and sets were refused.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::doctor {

// "field: Class" of the first field whose default is made by another dataclass of the same file that cannot
// be hashed (neither frozen nor unsafe_hash); empty if there is none.
std::string mutable_dataclass_default(std::string_view source);

}  // namespace plimsoll::doctor

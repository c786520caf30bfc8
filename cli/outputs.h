// The files a command is to write.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace plimsoll::cli {

// Before the work: hours of it must not end in a name that cannot be written. An empty `file` is none. Throws
// Error naming the option if the file has none of the suffixes or its folder is not there.
void check_writable(const std::string& option, const std::string& file,
                    std::initializer_list<std::string_view> suffixes);

}  // namespace plimsoll::cli

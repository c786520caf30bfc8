// Small files read and written whole, and where the guard keeps its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::guard {

// The whole of a file (also of /proc, whose files have no size), or nothing if it cannot be read.
std::optional<std::string> read_file(const std::filesystem::path& path);

// Writes beside, then renames: a reader sees the old text or the new one. The file gets mode 0600.
// Throws Error{io}.
void write_file(const std::filesystem::path& path, std::string_view text);

// $XDG_STATE_HOME/plimsoll, else ~/.local/state/plimsoll.
std::filesystem::path state_folder();

// The folder of the running program, links resolved.
std::filesystem::path program_folder();

// The value of an environment variable; nothing if unset or empty.
std::optional<std::string> environment(const char* name);

}  // namespace plimsoll::guard

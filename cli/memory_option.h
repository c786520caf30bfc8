// --memory of the subcommands that run a model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace plimsoll::cli {

void add_memory_option(CLI::App& command, std::string& memory);

// First of all: from here on the line bounds the whole process, and the one that `memory` names is drawn
// (empty: none). What it says of devices ("cuda:0=4GiB") is returned, for FitArgs::memory. Throws
// Error{invalid_argument}.
std::string draw_line(const std::string& memory);

}  // namespace plimsoll::cli

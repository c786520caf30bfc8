// A subcommand is one file cli/cmd_<name>.cpp that defines `void cmd_<name>(CLI::App& app)`: it adds
// itself to `app` with its options and a callback. CMake finds the file; nothing else is edited.
//
// A callback ends well by returning. It throws plimsoll::Error for a failure that deserves a message
// (exit status 1), or CLI::RuntimeError(status) to end with a status of its own and no message.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

namespace plimsoll::cli {

using Command = void (*)(CLI::App&);

// All subcommands, in the order of their names.
std::span<const Command> commands();

}  // namespace plimsoll::cli

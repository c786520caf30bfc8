// A subcommand is one file cli/cmd_<name>.cpp that defines `void cmd_<name>(CLI::App& app)`: it adds
// itself to `app` with its options and a callback. CMake finds the file; nothing else is edited.
//
// A callback ends well by returning. It throws plimsoll::Error for a failure that deserves a message
// (exit status 1, or 3 where memory is short), or CLI::RuntimeError(status) to end with a status of its own
// and no message.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

namespace plimsoll::cli {

using Command = void (*)(CLI::App&);

// What the program ends with, for --help and the manual.
inline constexpr const char* kExitStatus =
    "0: done; 1: an error, whose message says what to do; 2: the command line was not understood;\n"
    "3: it does not fit under the memory line; 130: interrupted. doctor and guard have their own.";

// For numbers that must be above 0. CLI11's own says the largest number there is in 300 digits.
inline const CLI::Validator& positive() {
  static const CLI::Validator check(
      [](std::string& given) {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(given, value);
        return is_number && value > 0 ? std::string() : "expected a number above 0, got " + given;
      },
      "POSITIVE");
  return check;
}

// All subcommands, in the order of their names.
std::span<const Command> commands();

}  // namespace plimsoll::cli

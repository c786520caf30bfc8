// How a kernel is started behind the guard: its own connection file, command and environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "guard/connection.h"
#include "guard/options.h"

namespace plimsoll::guard {

struct Launch {
  Connection connection;
  std::filesystem::path connection_file;
  std::vector<std::string> argv;
};

// The launch number `generation`, on sockets that no earlier one used. Writes the connection file.
// Throws Error{io}.
Launch prepare_launch(const GuardOptions& options, const Connection& front,
                      const std::filesystem::path& folder, int generation);

// The guard's environment with `changes` ("NAME=value") in place.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

bool is_ipykernel(const std::vector<std::string>& argv);

// Code that gives ipykernel the magic %guard and hides what the launch changed. Defines no name.
std::string python_setup_code();

}  // namespace plimsoll::guard

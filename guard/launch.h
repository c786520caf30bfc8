// How a kernel is started behind the guard: its own connection file, command and environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "guard/connection.h"
#include "guard/gate/page.h"
#include "guard/options.h"

namespace plimsoll::guard {

// The descriptor on which a Python kernel writes its stacks when asked with SIGUSR2.
inline constexpr int kStackFd = gate::kStackFd;
// The real-time signal, counted from SIGRTMIN, on which a Python kernel tells whether its cell's values
// change.
inline constexpr int kValuesOffset = 7;

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

// Code that makes a Python kernel write to kStackFd its stacks on SIGUSR2 and, on the signal of
// kValuesOffset, "plimsoll values <hash>;" of the variables in the cell's frames; with the magic %guard.
// Defines no name.
std::string python_setup_code();

}  // namespace plimsoll::guard

// Runs a command in a throw-away process under limits and says how it ended.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace plimsoll::doctor {

struct ProcessEnd {
  bool started = false;
  bool timed_out = false;
  int exit_code = 0;
  int signal = 0;  // 0: it ended by itself
  double seconds = 0;
  std::string output;  // the last of what it wrote, both streams
};

// Standard input is empty; no core file is written; after `limit` the whole process group is killed.
ProcessEnd run_process(const std::vector<std::string>& command, std::chrono::seconds limit);

}  // namespace plimsoll::doctor

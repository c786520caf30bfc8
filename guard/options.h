// What `plimsoll guard` was asked to do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace plimsoll::guard {

struct GuardOptions {
  std::filesystem::path connection_file;  // empty: a script, not a kernel
  std::string name = "kernel";            // of the kernel that is guarded
  std::string language = "unknown";
  std::string memory;        // the line, "4GiB" or "60%"; empty: a safe share of what there is
  std::string transport;     // towards the kernel: "ipc" or "tcp"; empty: what the kernel can do
  double stall_notice = 30;  // seconds without a sign of life after which to say so
  double stall_timeout = 0;  // seconds without progress after which to interrupt; 0: never
  bool gate = true;          // preload the allocation gate
  bool cgroup = true;        // a cgroup of its own where permitted
  std::vector<std::string> command;
};

// Reads the words after the program's name. Throws Error{invalid_argument} that says what is wrong.
// An empty command means that help was asked for.
GuardOptions parse_options(const std::vector<std::string>& words);
const char* usage();

}  // namespace plimsoll::guard

#include "guard/system_call.h"

#include <unistd.h>

#include <cstdlib>

#include "guard/files.h"

namespace plimsoll::guard {

Call parse_call(const std::string& text) {
  Call call;
  if (text.empty() || text[0] < '0' || text[0] > '9') return call;
  char* at = nullptr;
  call.number = std::strtol(text.c_str(), &at, 10);
  for (uint64_t& argument : call.arguments) argument = std::strtoull(at, &at, 16);
  return call;
}

Call read_call(const std::filesystem::path& task) {
  return parse_call(read_file(task / "syscall").value_or(""));
}

// /proc/<pid>/stat: the name in parentheses may hold anything, so fields are counted from the last ')'.
std::optional<Stat> read_stat(const std::filesystem::path& folder) {
  const std::string text = read_file(folder / "stat").value_or("");
  const size_t close = text.rfind(')');
  if (close == std::string::npos || close + 2 >= text.size()) return std::nullopt;
  Stat s;
  s.name = text.substr(0, close);
  s.name.erase(0, s.name.find('(') + 1);
  s.state = text[close + 2];
  const char* at = text.c_str() + close + 3;
  double fields[14] = {};
  for (double& field : fields) {
    char* end = nullptr;
    field = std::strtod(at, &end);
    at = end;
  }
  // After the state: ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime cutime
  // cstime
  s.major_faults = static_cast<int64_t>(fields[8]);
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  s.cpu = (fields[10] + fields[11]) / ticks;
  s.ended_children_cpu = (fields[12] + fields[13]) / ticks;
  return s;
}

}  // namespace plimsoll::guard

#include "guard/line.h"

#include <cctype>
#include <cstdlib>

#include "guard/files.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

double unit(std::string_view name) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr double kKi = 1024, kKilo = 1000;
  constexpr Unit kUnits[] = {{"", 1}, {"b", 1},
                             {"k", kKi}, {"kib", kKi}, {"kb", kKilo},
                             {"m", kKi * kKi}, {"mib", kKi * kKi}, {"mb", kKilo * kKilo},
                             {"g", kKi * kKi * kKi}, {"gib", kKi * kKi * kKi}, {"gb", kKilo * kKilo * kKilo},
                             {"t", kKi * kKi * kKi * kKi}, {"tib", kKi * kKi * kKi * kKi},
                             {"tb", kKilo * kKilo * kKilo * kKilo}};
  for (const auto& u : kUnits) {
    if (u.name == name) return u.bytes;
  }
  return 0;
}

}  // namespace

int64_t parse_size(std::string_view text, int64_t whole) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string name;
  for (; *end; ++end) {
    if (*end != ' ') name += static_cast<char>(std::tolower(static_cast<unsigned char>(*end)));
  }
  const bool percent = name == "%";
  const double bytes = percent ? number / 100 * static_cast<double>(whole) : number * unit(name);
  const bool sound = !copy.empty() && std::isdigit(static_cast<unsigned char>(copy[0])) && bytes >= 1 && bytes < 9e18 &&
                     (!percent || number <= 100);
  require(sound, "memory", "expected a size such as 4GiB or 60%, got '", text, "'");
  return static_cast<int64_t>(bytes);
}

Line choose_line(const std::string& asked) {
  const auto system = readings::system();
  const auto cgroup = readings::cgroup();
  const int64_t total = system ? system->total : 0;
  const int64_t limit = cgroup ? cgroup->limit().value_or(0) : 0;
  const bool limited = limit > 0 && (total == 0 || limit < total);
  const int64_t whole = limited ? limit : total;
  if (!asked.empty()) return {parse_size(asked, whole), concat("--memory ", asked)};
  if (auto set = environment("PLIMSOLL_MEMORY")) return {parse_size(*set, whole), concat("PLIMSOLL_MEMORY=", *set)};
  return {whole / 10 * 9, limited ? "90 % of the control group's limit" : "90 % of the machine's memory"};
}

}  // namespace plimsoll::guard

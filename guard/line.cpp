#include "guard/line.h"

#include <fmt/format.h>

#include <cmath>

#include "common/bytes.h"
#include "guard/files.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

Line choose_line(const std::string& asked) {
  const auto system = readings::system();
  const auto cgroup = readings::cgroup();
  const int64_t total = system ? system->total : 0;
  const int64_t limit = cgroup ? cgroup->limit().value_or(0) : 0;
  const bool limited = limit > 0 && (total == 0 || limit < total);
  const int64_t whole = limited ? limit : total;
  if (!asked.empty()) return {parse_bytes(asked, whole), concat("--memory ", asked)};
  if (auto set = environment("PLIMSOLL_MEMORY"))
    return {parse_bytes(*set, whole), concat("PLIMSOLL_MEMORY=", *set)};
  return {whole / 10 * 9, limited ? "90 % of the control group's limit" : "90 % of the machine's memory"};
}

std::string when_reached(int64_t line, int64_t resident, double growth) {
  const bool grows = growth > 1e6;
  std::string text;
  if (grows) text = fmt::format(", growing by {}/s", bytes_text(static_cast<int64_t>(growth)));
  if (resident > line) return text + "; that is over the line";
  if (!grows) return text;
  const double left = static_cast<double>(line - resident) / growth;
  return text + fmt::format("; the line is reached in {:.0f} s", std::ceil(left));
}

}  // namespace plimsoll::guard

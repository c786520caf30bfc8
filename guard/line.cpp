#include "guard/line.h"

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

}  // namespace plimsoll::guard

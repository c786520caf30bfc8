#include "guard/kept_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "guard/message.h"

namespace plimsoll::guard {

namespace {

constexpr size_t kMostCells = 200;

bool has_line(const std::string& code, std::string_view wanted) {
  for (size_t begin = 0; begin < code.size();) {
    const size_t end = std::min(code.find('\n', begin), code.size());
    std::string_view line = std::string_view(code).substr(begin, end - begin);
    const size_t first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first != line.npos && line.substr(first, last - first + 1) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

void KeptCells::ended_well(const std::string& code) {
  if (has_line(code, "%guard forget")) codes_.clear();
  if (!has_line(code, "%guard keep")) return;
  codes_.erase(std::remove(codes_.begin(), codes_.end(), code), codes_.end());
  if (codes_.size() < kMostCells) codes_.push_back(code);
}

void KeptCells::begin(std::set<std::string> ids) {
  under_way_ = std::move(ids);
  failure_.clear();
}

std::string KeptCells::hear(const std::string& id, std::string_view type, std::string_view content) {
  if (under_way_.count(id) == 0) return {};
  if (type == "error" && failure_.empty()) {
    failure_ = fmt::format("{}: {}", string_member(content, "ename").value_or("error"),
                           string_member(content, "evalue").value_or(""));
  }
  if (type != "status" || string_member(content, "execution_state") != "idle") return {};
  under_way_.erase(id);
  if (!under_way_.empty()) return {};
  if (!failure_.empty())
    return fmt::format("plimsoll: the kept cells were run again, and one failed: {}\n", failure_);
  return fmt::format("plimsoll: {} kept cell{} run again.\n", codes_.size(),
                     codes_.size() == 1 ? " was" : "s were");
}

std::string KeptCells::kernel_died() {
  if (under_way_.empty()) return {};
  under_way_.clear();
  codes_.clear();
  return "plimsoll: the kernel died while the kept cells were run again; none is kept any more.\n";
}

}  // namespace plimsoll::guard

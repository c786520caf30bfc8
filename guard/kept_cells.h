// Cells that a user marked with `%guard keep`: run again, silently and in order, in each new kernel, so that
// imports and settings are there when the next cell runs. Pure; the Broker sends and hears for it. One
// thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::guard {

class KeptCells {
 public:
  // A cell has ended well. With a line `%guard keep` it is kept; a line `%guard forget` ends that for all.
  void ended_well(const std::string& code);
  const std::vector<std::string>& codes() const { return codes_; }

  // All are being run again, by these requests.
  void begin(std::set<std::string> ids);
  // A message of iopub about one of those. Returns a word for the next cell when the last one is over.
  std::string hear(const std::string& id, std::string_view type, std::string_view content);
  // The kernel has died. If that was while they ran they are forgotten, or it would die for ever; returns a
  // word on it.
  std::string kernel_died();

 private:
  std::vector<std::string> codes_;
  std::set<std::string> under_way_;
  std::string failure_;  // the first
};

}  // namespace plimsoll::guard

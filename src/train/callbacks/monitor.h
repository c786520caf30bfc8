// Monitor: a value of the logs, and whether it has become better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plimsoll/callbacks.h"

namespace plimsoll {

class Monitor {
 public:
  // Throws Error{invalid_argument} naming `place` if `mode` is not known.
  Monitor(std::string_view place, std::string name, std::string mode, double min_delta);

  // The value in the logs; empty, with a warning, if there is none.
  std::optional<double> value(const Logs& logs) const;
  bool improved(double value, const std::optional<double>& best) const;
  const std::string& name() const { return name_; }

 private:
  std::string place_, name_;
  bool rises_ = false;
  double min_delta_ = 0;
};

std::vector<std::string> log_names(const Logs& logs);
// The shortest digits that read back as the same number.
std::string shortest(double value);
// A line for people, on standard output.
void say(const std::string& line);

}  // namespace plimsoll

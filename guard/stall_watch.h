// Watches a running cell for signs of life and speaks up when there are none; says when the process should be
// asked where Python is. One thread.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "guard/stall.h"

namespace plimsoll::guard {

class StallWatch {
 public:
  using Reader = std::function<std::optional<StallReading>(pid_t, double, const std::set<pid_t>&)>;

  // A notice after `notice` seconds without a sign of life, a verdict after four times that. With `timeout`
  // above zero, must_interrupt() becomes true after so many.
  StallWatch(double notice, double timeout, Reader read = take_reading)
      : notice_(notice), timeout_(timeout), read_(std::move(read)) {}

  // A new process, whose threads at this moment are the kernel's own.
  void begin_process(pid_t pid);
  void begin_cell(double now);

  struct Look {
    pid_t pid = 0;
    double now = 0;
    double last_sign = 0;  // of life: output, or the beginning of the cell
    bool waiting_for_input = false;
  };
  // To be called once a second while a cell runs. Returns text for the cell, or nothing.
  std::string look(const Look& look);
  // Whether a stack should be asked for now.
  bool wants_stack(double now, double last_sign) const;
  // Text that the process wrote when asked, in pieces as they come.
  void hear_stack(const std::string& text);
  // True once, when the cell has stood still for longer than the timeout.
  bool must_interrupt();
  StallKind kind() const { return verdict_.kind; }
  // "deadlocked: …", the last verdict in one sentence.
  std::string seen() const { return std::string(name_of(verdict_.kind)) + ": " + verdict_.text; }

 private:
  void take_stacks();
  bool keeps_lock_lately() const;
  std::string tell(double quiet) const;

  double notice_, timeout_;
  Reader read_;
  std::set<pid_t> own_threads_;
  std::deque<StallReading> readings_;
  StallSamples python_;
  std::string heard_;
  StallVerdict verdict_;
  double told_at_ = 0, quiet_ = 0;
  bool interrupted_ = false;
};

}  // namespace plimsoll::guard

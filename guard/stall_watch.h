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
#include "guard/stall_ring.h"

namespace plimsoll::guard {

class StallWatch {
 public:
  using Reader = std::function<std::optional<StallReading>(pid_t, double, const std::set<pid_t>&)>;
  using Ring = std::function<StallVerdict(pid_t, const Own&, MainWaits)>;

  // What stands still is judged by the last `notice` seconds: a notice once they have passed without a sign
  // of life, whenever the stall began, and a second one, the verdict, after three times as many more. With
  // `timeout` above zero, must_interrupt() becomes true after so many seconds.
  StallWatch(double notice, double timeout, Reader read = take_reading, Ring ring = waits_in_a_ring)
      : notice_(notice), timeout_(timeout), read_(std::move(read)), ring_(std::move(ring)) {}

  // A new process, whose threads and files at this moment are the kernel's own.
  void begin_process(pid_t pid);
  void begin_cell(double now);

  struct Look {
    pid_t pid = 0;
    double now = 0;
    double last_sign = 0;  // of life: output, or the beginning of the cell
    bool waiting_for_input = false;
    Alarm alarm = Alarm::none;
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
  void take_stacks(double now);
  bool heard_enough() const;
  double next_notice() const;
  std::string tell(double quiet) const;
  void look_for_ring(pid_t pid);
  bool stays_in_its_loop() const;

  double notice_, timeout_;
  Reader read_;
  Ring ring_;
  Own own_;
  std::deque<StallReading> readings_;
  StallSamples python_;
  double heard_at_ = 0;  // when the last of them came
  std::string heard_;
  StallVerdict verdict_;
  double told_at_ = 0, quiet_ = 0;
  int told_ = 0;
  bool interrupted_ = false;
};

}  // namespace plimsoll::guard

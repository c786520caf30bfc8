// Signals as bytes in a pipe, so that the loop can poll for them. One per process.
#pragma once

#include <initializer_list>
#include <string>

namespace plimsoll::guard {

class SignalPipe {
 public:
  // Catches `signals` until destroyed; SIGPIPE is ignored. Throws Error{io}.
  explicit SignalPipe(std::initializer_list<int> signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int fd() const { return fds_[0]; }
  // The signals that came since the last call, one byte each.
  std::string take();

 private:
  int fds_[2] = {-1, -1};
};

}  // namespace plimsoll::guard

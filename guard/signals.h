// Signals as bytes in a pipe, so that the loop can poll for them. They are blocked in every thread and taken
// by one of their own: no system call of the loop, or of ZeroMQ in it, is ever interrupted. One per process.
#pragma once

#include <initializer_list>
#include <string>
#include <thread>

namespace plimsoll::guard {

class SignalPipe {
 public:
  // Takes `signals` until destroyed; SIGPIPE is ignored. To be made before any other thread. Throws
  // Error{io}.
  explicit SignalPipe(std::initializer_list<int> signals);
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  int fd() const { return fds_[0]; }
  // The signals that came since the last call, one byte each.
  std::string take();

 private:
  int fds_[2] = {-1, -1};
  std::thread thread_;
};

}  // namespace plimsoll::guard

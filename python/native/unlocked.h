// Giving up the interpreter's lock, and taking it again.
//
// When the interpreter ends, daemon threads may still be at work. One that asks for the lock then is ended by
// Python (before 3.14) by unwinding its stack, and that ends the process with "terminate called without an
// active exception" if C++ lies on it. So a thread that comes back late is held instead, for the little time
// the process has left.
#pragma once

#include <Python.h>

namespace plimsoll::python {

// While one lives, this thread works without the lock. Requires: it has it.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  PyThreadState* state_;
};

// Inside of an Unlocked: while one lives, this thread has the lock.
class Relocked {
 public:
  Relocked();
  ~Relocked();
  Relocked(const Relocked&) = delete;
  Relocked& operator=(const Relocked&) = delete;

 private:
  PyGILState_STATE state_;
};

// The interpreter is about to end: threads that come back from now on are held. Returns when none is on its
// way, or after some seconds. Requires: this thread has the lock.
void hold_late_threads();
// A thread without the lock that works in rounds is held here if they have begun to be.
void stay_if_late();

}  // namespace plimsoll::python

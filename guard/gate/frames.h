// The frames of a thread or of a coroutine that waits, while the interpreter's lock is held. Nothing here
// runs bytecode.
#pragma once

#include "guard/gate/python_api.h"

namespace plimsoll::gate {

// Innermost first, as far as the kernel's own; what the cell has called of those (its `open`) is left out. To
// be cleared before the lock is released.
class Frames {
 public:
  static constexpr int kMost = 100;

  Frames() = default;
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;

  int size() const { return size_; }
  Object operator[](int i) const { return list_[i]; }

  // Those of a thread. False if it is not in a cell: no frame of the kernel's comes outside of its own.
  bool read_thread(void* thread);
  // Those of the coroutine that a cell awaits: they are on no thread's stack. False if there is none.
  bool read_awaited();
  // Of the last read_awaited(): no other task of the program's is there that could end the wait.
  bool awaits_alone() const { return alone_; }
  // It waits for what a thread of an executor does.
  bool awaits_thread() const { return thread_; }
  void clear();

 private:
  void add(Object frame);  // takes it over
  void add_chain(Object task, int depth);
  void add_awaited(Object future, int depth);
  bool cut_at_kernels_own();
  void reverse();

  bool is_of_others(Object task);

  static constexpr int kMostSeen = 16;
  Object seen_[kMostSeen] = {};  // tasks of the chain; not held
  int seen_size_ = 0;
  bool alone_ = false, thread_ = false;
  Object list_[kMost] = {};
  int size_ = 0;
};

}  // namespace plimsoll::gate

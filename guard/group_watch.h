// A small process that ends a process group once the guard is gone, however it went. The guard's death ends
// the kernel itself, not what the kernel started; and who kills the guard's group, as Jupyter does, does not
// reach the kernel's. The watcher is a member of the group that it watches: while it is there no other
// group can have that number, so nobody else's is ever ended in its stead.
#pragma once

#include <sys/types.h>

#include <utility>

namespace plimsoll::guard {

class GroupWatch {
 public:
  GroupWatch() = default;
  // Watches the group of the child process `group`, until end(). Throws Error{io}.
  explicit GroupWatch(pid_t group);
  ~GroupWatch() { end(); }
  GroupWatch(GroupWatch&& other) noexcept { *this = std::move(other); }
  GroupWatch& operator=(GroupWatch&& other) noexcept;

  // The watcher is gone and waited for; the group is left as it is.
  void end();

 private:
  pid_t pid_ = 0;
  int alive_ = -1;  // closed when the guard ends: what the watcher waits for
};

}  // namespace plimsoll::guard

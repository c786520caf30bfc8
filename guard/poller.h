// Waits for many descriptors at once. What is waited for is said anew each time; the system is told of
// changes only. epoll on Linux, poll elsewhere. One thread.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plimsoll::guard {

class Poller {
 public:
  // Throws Error{io}.
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // Begins a new set. Entries are numbered from 0 in the order they are added.
  void begin();
  // `events` as for poll(), not 0. `owner` differs whenever the descriptor has been closed and its number is
  // in use again.
  void add(int fd, uint64_t owner, short events);
  // Waits for any of them, `milliseconds` at most.
  void wait(int milliseconds);
  size_t size() const { return set_.size(); }
  // What has come for an entry, as from poll(); 0 after begin().
  short revents(size_t entry) const { return set_[entry].revents; }

 private:
  struct Known {
    uint64_t owner = 0;
    size_t entry = 0;
    short events = 0;  // 0: the system does not know it
    bool wanted = false;
  };
  void tell_changes();

  std::vector<pollfd> set_;
  std::vector<uint64_t> owners_;
  std::vector<Known> known_;  // by descriptor
  std::vector<int> told_;     // descriptors that the system may know
  int epoll_ = -1;
};

}  // namespace plimsoll::guard

#include "guard/poller.h"

#ifdef __linux__
#include <sys/epoll.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::guard {

void Poller::begin() {
  set_.clear();
  owners_.clear();
}

void Poller::add(int fd, uint64_t owner, short events) {
  set_.push_back({fd, events, 0});
  owners_.push_back(owner);
}

#ifdef __linux__

namespace {

constexpr size_t kAtOnce = 64;
static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP);

void control(int epoll, int operation, int fd, short events) {
  epoll_event event{};
  event.events = static_cast<uint32_t>(events);
  event.data.fd = fd;
  if (::epoll_ctl(epoll, operation, fd, &event) == 0) return;
  // Its number was in use before: what the system knows is another's.
  if (operation == EPOLL_CTL_ADD && errno == EEXIST) ::epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
}

}  // namespace

Poller::Poller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) fail(ErrorKind::io, "guard", "cannot wait for descriptors: ", std::strerror(errno));
}

Poller::~Poller() { ::close(epoll_); }

void Poller::tell_changes() {
  for (int fd : told_) known_[static_cast<size_t>(fd)].wanted = false;
  for (size_t i = 0; i < set_.size(); ++i) {
    const auto fd = static_cast<size_t>(set_[i].fd);
    if (fd >= known_.size()) known_.resize(fd + 1);
    Known& known = known_[fd];
    known.wanted = true;
    known.entry = i;
    if (known.events != 0 && known.owner == owners_[i] && known.events == set_[i].events) continue;
    const bool same = known.events != 0 && known.owner == owners_[i];
    control(epoll_, same ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, set_[i].fd, set_[i].events);
    if (known.events == 0) told_.push_back(set_[i].fd);
    known.owner = owners_[i];
    known.events = set_[i].events;
  }
  // One that nothing is wanted of would still report that its peer has gone, over and over.
  told_.erase(std::remove_if(told_.begin(), told_.end(),
                             [&](int fd) {
                               Known& known = known_[static_cast<size_t>(fd)];
                               if (known.wanted) return false;
                               ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
                               known.events = 0;
                               return true;
                             }),
              told_.end());
}

void Poller::wait(int milliseconds) {
  tell_changes();
  std::array<epoll_event, kAtOnce> events;
  const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    const Known& known = known_[static_cast<size_t>(events[static_cast<size_t>(i)].data.fd)];
    if (known.wanted) set_[known.entry].revents = static_cast<short>(events[static_cast<size_t>(i)].events);
  }
}

#else

Poller::Poller() = default;
Poller::~Poller() = default;
void Poller::tell_changes() {}

void Poller::wait(int milliseconds) {
  if (::poll(set_.data(), static_cast<nfds_t>(set_.size()), milliseconds) >= 0) return;
  for (auto& entry : set_) entry.revents = 0;
}

#endif

}  // namespace plimsoll::guard

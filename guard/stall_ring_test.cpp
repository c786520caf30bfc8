#include "guard/stall_ring.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace plimsoll::guard {
namespace {

// The sentence if there is a ring.
std::string ring_text(pid_t pid, const Own& own) {
  const StallVerdict verdict = waits_in_a_ring(pid, own);
  return verdict.kind == StallKind::deadlocked ? verdict.text : "";
}

// A child that reads from a pipe, once it does so; and whether it and we form a ring then.
std::string ring_with_reader(int (&ends)[2]) {
  const pid_t reader = ::fork();
  if (reader == 0) {
    // One child that waits for another, and that one for the pipe.
    const pid_t inner = ::fork();
    char byte = 0;
    if (inner == 0) ::_exit(::read(ends[0], &byte, 1) == 1 ? 0 : 1);
    ::waitpid(inner, nullptr, 0);
    ::_exit(0);
  }
  std::string ring;
  for (int waits = 0; ring.empty() && waits < 10; ::usleep(1000)) {
    ring = ring_text(reader, {{reader}, {}});
    const auto reading = take_reading(reader, 0, {});
    if (reading && reading->doing == Doing::child) ++waits;
  }
  ::kill(reader, SIGKILL);
  [[maybe_unused]] const ssize_t n = ::write(ends[1], "xx", 2);
  ::waitpid(reader, nullptr, 0);
  return ring;
}

TEST(StallRing, ProcessesThatWaitForNoneButOneAnotherAreARing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(ring_with_reader(ends), "");  // we have the other end, and may write
  ::close(ends[0]);
  ::close(ends[1]);
  const pid_t alone = ::fork();
  if (alone == 0) {
    int own[2];
    char byte = 0;
    ::_exit(::pipe(own) == 0 && ::read(own[0], &byte, 1) == 1 ? 0 : 1);
  }
  std::string ring;
  while (ring.empty() && ::waitpid(alone, nullptr, WNOHANG) == 0) ring = ring_text(alone, {});
  EXPECT_NE(ring.find("a pipe"), std::string::npos) << ring;
  ::kill(alone, SIGKILL);
  ::waitpid(alone, nullptr, 0);
}

// What a child comes to that runs `work`, once that is `wanted`.
template <class Work>
StallVerdict ring_of(const Work& work, StallKind wanted) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  StallVerdict ring;
  do {
    ring = waits_in_a_ring(child, {});
  } while (ring.kind != wanted && ::waitpid(child, nullptr, WNOHANG) == 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return ring;
}

void reads_for_ever(int fd) {
  char byte = 0;
  [[maybe_unused]] const ssize_t n = ::recv(fd, &byte, 1, 0);
}

// Two connected sockets of this kind in one process.
void connect(int family, int (&ends)[2]) {
  if (family == AF_UNIX) {
    [[maybe_unused]] const int made = ::socketpair(family, SOCK_STREAM, 0, ends);
    return;
  }
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  ends[0] = ::socket(AF_INET, SOCK_STREAM, 0);
  if (::bind(server, address, size) != 0 || ::listen(server, 1) != 0) ::_exit(1);
  ::getsockname(server, address, &size);
  if (::connect(ends[0], address, size) != 0) ::_exit(1);
  ends[1] = ::accept(server, nullptr, nullptr);
  // One thread goes on to serve, as a server in a thread does.
  std::thread([server] {
    pollfd one{server, POLLIN, 0};
    for (;;) ::poll(&one, 1, 500);
  }).detach();
}

TEST(StallRing, AConnectionWithBothEndsInTheProgramIsARing) {
  for (const int family : {AF_UNIX, AF_INET}) {
    const auto waits = ring_of(
        [&] {
          int ends[2] = {-1, -1};
          connect(family, ends);
          reads_for_ever(ends[0]);
        },
        StallKind::deadlocked);
    EXPECT_NE(waits.text.find("a connection"), std::string::npos) << family << waits.text;
    const auto later = ring_of(
        [&] {
          int ends[2] = {-1, -1};
          connect(family, ends);
          std::thread([] { ::sleep(100000); }).detach();
          reads_for_ever(ends[0]);
        },
        StallKind::sleeping);
    EXPECT_EQ(later.kind, StallKind::sleeping) << family;
  }
}

// A child that waits in recv() on one end, and we have the other.
TEST(StallRing, AConnectionWhoseOtherEndIsOutsideIsNone) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    reads_for_ever(ends[0]);
    ::_exit(0);
  }
  std::optional<StallReading> reading;
  do {
    reading = take_reading(child, 0, {});
  } while (reading && reading->doing != Doing::io);
  EXPECT_EQ(waits_in_a_ring(child, {}).kind, StallKind::working);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  for (int fd : ends) ::close(fd);
}

// An event loop that watches the kernel's own files and no other, and what it is with one more.
TEST(StallRing, AnEventLoopThatNothingCanWakeIsARing) {
  for (const bool another : {false, true}) {
    const int loop = ::epoll_create1(0), kernels = ::eventfd(0, 0), programs = ::eventfd(0, 0);
    epoll_event event{};
    ::epoll_ctl(loop, EPOLL_CTL_ADD, kernels, &event);
    if (another) ::epoll_ctl(loop, EPOLL_CTL_ADD, programs, &event);
    const pid_t child = ::fork();
    if (child == 0) {
      ::epoll_wait(loop, &event, 1, -1);
      ::_exit(0);
    }
    std::optional<StallReading> reading;
    do {
      reading = take_reading(child, 0, {});
    } while (reading && reading->doing != Doing::poll);
    const Own own{{}, {std::to_string(kernels) + " anon_inode:[eventfd]"}};
    EXPECT_EQ(waits_in_a_ring(child, own).kind, StallKind::working);  // it is not known to stay there
    EXPECT_EQ(waits_in_a_ring(child, own, MainWaits::in_its_loop).kind,
              another ? StallKind::working : StallKind::deadlocked);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int fd : {loop, kernels, programs}) ::close(fd);
  }
}

}  // namespace
}  // namespace plimsoll::guard

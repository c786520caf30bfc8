#include "guard/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

constexpr int kBacklog = 128;
// What a local socket takes at once; the system's 208 KiB would cut a large buffer into twice as many turns.
constexpr int kLocalBuffer = 1 << 20;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

int port_of(const Connection& c, Channel channel) { return c.ports[static_cast<size_t>(channel)]; }
std::string path_of(const Connection& c, Channel channel) { return concat(c.ip, "-", port_of(c, channel)); }

// Throws Error{io} if there is no such address.
Address address_of(const Connection& c, Channel channel) {
  Address address;
  if (c.transport == "ipc") {
    auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
    const std::string path = path_of(c, channel);
    if (path.size() >= sizeof local->sun_path) {
      fail(ErrorKind::io, "guard", "expected a socket path of less than ", sizeof local->sun_path,
           " bytes, got ", path);
    }
    local->sun_family = AF_UNIX;
    std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
    address.size = sizeof(sockaddr_un);
    return address;
  }
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = c.ip.find(':') == std::string::npos ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const bool any = c.ip.empty() || c.ip == "*";
  const int error = ::getaddrinfo(any ? nullptr : c.ip.c_str(), std::to_string(port_of(c, channel)).c_str(),
                                  &hints, &found);
  if (error != 0)
    fail(ErrorKind::io, "guard", "cannot find the address of ", c.ip, ": ", ::gai_strerror(error));
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  ::freeaddrinfo(found);
  return address;
}

void set(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

void prepare(int fd, bool local) {
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  if (local) {
    set(fd, SOL_SOCKET, SO_SNDBUF, kLocalBuffer);
  } else {
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  }
}

// Two ends that are one: a port on which nobody listens can answer a connection that happens to come from it.
bool is_connected_to_itself(int fd) {
  Address here, there;
  here.size = there.size = sizeof here.storage;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&here.storage), &here.size) == 0 &&
         ::getpeername(fd, reinterpret_cast<sockaddr*>(&there.storage), &there.size) == 0 &&
         here.size == there.size && std::memcmp(&here.storage, &there.storage, here.size) == 0;
}

}  // namespace

int listen_at(const Connection& connection, Channel channel) {
  const Address address = address_of(connection, channel);
  const int fd = ::socket(address.storage.ss_family, SOCK_STREAM, 0);
  const bool local = address.storage.ss_family == AF_UNIX;
  if (fd >= 0) {
    prepare(fd, local);
    set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (local) remove_endpoint(connection, channel);
    if (::bind(fd, address.get(), address.size) == 0 && ::listen(fd, kBacklog) == 0) return fd;
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  fail(ErrorKind::io, "guard", "cannot bind ", name_of(channel), " to ", connection.endpoint(channel), ": ",
       std::strerror(error));
}

// Only ever a socket: the path comes from a file.
void remove_endpoint(const Connection& connection, Channel channel) {
  if (connection.transport != "ipc") return;
  const std::string path = path_of(connection, channel);
  struct stat there {};
  if (::lstat(path.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) ::unlink(path.c_str());
}

int accept_from(int listener) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const int fd = ::accept(listener, reinterpret_cast<sockaddr*>(&peer), &size);
  if (fd >= 0) prepare(fd, peer.ss_family == AF_UNIX);
  return fd;
}

int dial(const Connection& connection, Channel channel) {
  const Address address = address_of(connection, channel);
  const int fd = ::socket(address.storage.ss_family, SOCK_STREAM, 0);
  if (fd < 0) return -1;
  prepare(fd, address.storage.ss_family == AF_UNIX);
  const bool begun = ::connect(fd, address.get(), address.size) == 0 || errno == EINPROGRESS;
  if (begun && !is_connected_to_itself(fd)) return fd;
  ::close(fd);
  return -1;
}

}  // namespace plimsoll::guard

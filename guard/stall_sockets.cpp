#include "guard/stall_sockets.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <sstream>

#include "guard/files.h"

namespace plimsoll::guard {

namespace {

constexpr uint8_t kListens = 10;  // TCP_LISTEN, for Unix sockets too

std::string name_of(uint64_t inode) { return "socket:[" + std::to_string(inode) + "]"; }

void add_unix(const nlmsghdr* header, Sockets& out) {
  unix_diag_msg socket{};
  std::memcpy(&socket, NLMSG_DATA(header), sizeof socket);
  const std::string name = name_of(socket.udiag_ino);
  if (socket.udiag_state == kListens) out.listening.insert(name);
  const auto* at = static_cast<const char*>(NLMSG_DATA(header)) + NLMSG_ALIGN(sizeof socket);
  const auto* end = reinterpret_cast<const char*>(header) + header->nlmsg_len;
  rtattr attribute{};
  while (at + sizeof attribute <= end) {
    std::memcpy(&attribute, at, sizeof attribute);
    uint32_t peer = 0;
    if (attribute.rta_type == UNIX_DIAG_PEER && at + RTA_LENGTH(sizeof peer) <= end) {
      std::memcpy(&peer, at + RTA_LENGTH(0), sizeof peer);
      if (peer != 0) out.peers[name] = name_of(peer);
    }
    if (attribute.rta_len < sizeof attribute) return;
    at += RTA_ALIGN(attribute.rta_len);
  }
}

// The system's list of Unix sockets says who is connected; /proc/net/unix does not.
void read_unix(Sockets& out) {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return;
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } ask{};
  ask.header.nlmsg_len = sizeof ask;
  ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  ask.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  ask.request.sdiag_family = AF_UNIX;
  ask.request.udiag_states = ~0U;
  ask.request.udiag_show = UDIAG_SHOW_PEER;
  bool more = ::send(fd, &ask, sizeof ask, 0) == static_cast<ssize_t>(sizeof ask);
  alignas(nlmsghdr) char block[32768];
  while (more) {
    ssize_t left = ::recv(fd, block, sizeof block, 0);
    more = left > 0;
    for (size_t at = 0; left >= static_cast<ssize_t>(sizeof(nlmsghdr));) {
      const auto* header = reinterpret_cast<const nlmsghdr*>(block + at);
      const ssize_t step = NLMSG_ALIGN(header->nlmsg_len);
      more = header->nlmsg_type == SOCK_DIAG_BY_FAMILY && step > 0;
      if (!more) break;
      add_unix(header, out);
      at += static_cast<size_t>(step);
      left -= step;
    }
  }
  ::close(fd);
}

// Lines of "0: 0100007F:9241 0100007F:8000 01 ... inode ...", by their two addresses.
void read_tcp(const std::string& text, Sockets& out) {
  std::map<std::string, std::string> by_ends;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, word;
    words >> number >> local >> remote >> state;
    for (int i = 0; i < 5; ++i) words >> word;
    uint64_t inode = 0;
    words >> inode;
    if (inode == 0) continue;
    const std::string name = name_of(inode);
    if (state == "0A") out.listening.insert(name);
    if (state != "01") continue;
    by_ends[local + " " + remote] = name;
    const auto other = by_ends.find(remote + " " + local);
    if (other == by_ends.end()) continue;
    out.peers[name] = other->second;
    out.peers[other->second] = name;
  }
}

}  // namespace

Sockets read_sockets(pid_t pid) {
  Sockets out;
  read_unix(out);
  const std::string net = "/proc/" + std::to_string(pid) + "/net/";
  read_tcp(read_file(net + "tcp").value_or(""), out);
  read_tcp(read_file(net + "tcp6").value_or(""), out);
  return out;
}

}  // namespace plimsoll::guard

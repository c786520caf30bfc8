// Connections within the machine: which socket is at the other end.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>

namespace plimsoll::guard {

// Sockets go by what /proc/<pid>/fd calls them: "socket:[4711]". One that is at neither place has its other
// end elsewhere, or none.
struct Sockets {
  std::map<std::string, std::string> peers;
  std::set<std::string> listening;
};
// Of the network that process `pid` is in (TCP), and of this process's (Unix sockets).
Sockets read_sockets(pid_t pid);

}  // namespace plimsoll::guard

// Stream sockets of the two transports of a connection file, tcp and ipc. All of them are non-blocking and
// closed in child processes.
#pragma once

#include <string>

#include "guard/connection.h"

namespace plimsoll::guard {

// A listening socket for a channel. Throws Error{io} that names the endpoint.
int listen_at(const Connection& connection, Channel channel);
// Removes what listen_at() left in the file system.
void remove_endpoint(const Connection& connection, Channel channel);
// The next one waiting to be accepted, or -1.
int accept_from(int listener);
// A socket on its way to the channel of a kernel on this machine, or -1 if nobody listens there.
int dial(const Connection& connection, Channel channel);

}  // namespace plimsoll::guard

// A Wire with sockets at its ends: bound ones towards clients, connected ones towards the kernel of the
// moment. One thread.
#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "guard/broker.h"

namespace plimsoll::guard {

class Transport : public Wire {
 public:
  struct Handlers {
    std::function<void(Channel, Frames)> from_client;
    std::function<void(Channel, Frames)> from_kernel;
    std::function<void(std::string_view)> subscribed;
    // Whether from_client() passes on what it is given before it returns, or not at all.
    std::function<bool()> passes_at_once;
  };
  // Requires: called once, before all else.
  virtual void set_handlers(Handlers handlers) = 0;
  // Connects to a new kernel; what was under way to or from the old one is forgotten.
  virtual void connect_kernel(const Connection& back) = 0;
  // Waits until something can be received or one of `others` is ready, `milliseconds` at most; fills in their
  // `revents`.
  virtual void wait(std::vector<pollfd>& others, int milliseconds) = 0;
  // Takes in a part of what has arrived; call it after each wait().
  virtual void receive() = 0;
  // Takes in all that a kernel which has ended had sent.
  virtual void drain() = 0;
  // Whether the kernel's iopub connection was lost since connect_kernel(): nothing more will come from it.
  virtual bool kernel_disconnected() = 0;
  // Waits until clients have been sent what there is for them, `milliseconds` at most, and closes.
  virtual void close(int milliseconds) = 0;
};

// Binds the sockets of `front`. Throws Error{io} that names the endpoint that cannot be bound.
std::unique_ptr<Transport> make_transport(const Connection& front);

}  // namespace plimsoll::guard

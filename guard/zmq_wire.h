// The sockets: five bound ones towards clients, four connected ones towards the kernel of the moment.
// Frames are moved from one socket to the other; a buffer of a gigabyte is never copied. One thread.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "guard/broker.h"

namespace plimsoll::guard {

class ZmqWire final : public Wire {
 public:
  // Binds the sockets of `front`. Throws Error{io} that names the endpoint that cannot be bound.
  explicit ZmqWire(const Connection& front);
  ~ZmqWire() override;

  void to_client(Channel channel, Frames frames) override;
  void to_kernel(Channel channel, Frames frames) override;

  // Connects to a new kernel; what was under way to or from the old one is forgotten.
  void connect_kernel(const Connection& back);

  struct Handlers {
    std::function<void(Channel, Frames)> from_client;
    std::function<void(Channel, Frames)> from_kernel;
    std::function<void(std::string_view)> subscribed;
  };
  // Appends this wire's sockets to `items`, for zmq_poll.
  void add_to(std::vector<zmq::pollitem_t>& items);
  // Takes in what has arrived, up to some hundred messages of each socket; true if there was anything.
  bool receive(const Handlers& handlers);
  // Whether the kernel's iopub connection was lost since connect_kernel(): nothing more will come from it.
  bool kernel_disconnected();
  // Bytes published and not yet taken by every subscriber.
  int64_t unsent_bytes() const { return ledger_->bytes.load(std::memory_order_relaxed); }
  // Waits until clients have been sent what there is for them, `milliseconds` at most, and closes.
  void close(int milliseconds);

 private:
  struct Ledger {
    std::atomic<int64_t> bytes{0};
    std::atomic<int> owners{1};
  };
  static void release(Ledger* ledger);
  static void forget(void* data, void* hint);
  Frame counted(Frame frame, int64_t bytes);
  void answer_heartbeats();
  bool receive_subscriptions(const Handlers& handlers);

  zmq::context_t context_{1};
  std::array<zmq::socket_t, 5> front_;
  std::array<zmq::socket_t, 4> back_;
  zmq::socket_t monitor_;
  bool lost_ = false;
  int generation_ = 0;
  int64_t dropped_ = 0;
  Ledger* ledger_;
};

}  // namespace plimsoll::guard

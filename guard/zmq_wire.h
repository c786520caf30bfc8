// libzmq at both ends, for encrypted connections. Frames are moved from one socket to the other; a buffer of
// a gigabyte is never copied. One thread.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "guard/transport.h"

namespace plimsoll::guard {

class ZmqWire final : public Transport {
 public:
  // Binds the sockets of `front`. Throws Error{io} that names the endpoint that cannot be bound.
  explicit ZmqWire(const Connection& front);
  ~ZmqWire() override;

  void to_client(Channel channel, Frames frames) override;
  void to_kernel(Channel channel, Frames frames) override;

  void set_handlers(Handlers handlers) override { handlers_ = std::move(handlers); }
  void connect_kernel(const Connection& back) override;
  void wait(std::vector<pollfd>& others, int milliseconds) override;
  void receive() override { receive_some(); }
  void drain() override;
  bool kernel_disconnected() override;
  void close(int milliseconds) override;

 private:
  struct Ledger {
    std::atomic<int64_t> bytes{0};
    std::atomic<int> owners{1};
  };
  static void release(Ledger* ledger);
  static void forget(void* data, void* hint);
  Frame counted(Frame frame, int64_t bytes);
  // Bytes published and not yet taken by every subscriber.
  int64_t unsent_bytes() const { return ledger_->bytes.load(std::memory_order_relaxed); }
  void answer_heartbeats();
  bool receive_subscriptions();
  // Some hundred messages of each socket; true if there was anything.
  bool receive_some();

  Handlers handlers_;
  std::vector<zmq::pollitem_t> items_;
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

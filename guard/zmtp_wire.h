// The guard's own ZeroMQ: messages pass from socket to socket by one thread, buffers as they arrive. Each
// client connection on shell, control and stdin has a connection of its own to the kernel, with the client's
// identity, so that what the kernel sees is what it would see without the guard; iopub is read once and
// handed to all who subscribed. When the kernel dies its connections are made anew behind clients that stay
// connected. One thread.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "guard/poller.h"
#include "guard/transport.h"
#include "guard/zmtp_peer.h"

namespace plimsoll::guard {

class ZmtpWire final : public Transport {
 public:
  // Throws Error{io} that names the endpoint that cannot be bound.
  explicit ZmtpWire(const Connection& front);
  ~ZmtpWire() override;

  void to_client(Channel channel, Frames frames) override;
  void to_kernel(Channel channel, Frames frames) override;
  void set_handlers(Handlers handlers) override { handlers_ = std::move(handlers); }
  void connect_kernel(const Connection& back) override;
  void wait(std::vector<pollfd>& others, int milliseconds) override;
  void receive() override;
  void drain() override;
  bool kernel_disconnected() override { return lost_; }
  void close(int milliseconds) override;

 private:
  struct Client;

  // A connection to the kernel: of one client, or of the guard itself.
  struct Back final : PeerEvents {
    Back(ZmtpWire& w, Channel c, Client* of);
    bool opened(const zmtp::Properties& peer) override;
    void head(Frames frames) override;
    void tail(std::string_view bytes, bool last) override;
    void command(const zmtp::Command&) override {}
    bool wants_to_read() const;
    // The rest of the message that is being read goes to this client too, behind `head_of_message`.
    void follow(Client& follower, Bytes head_of_message);

    ZmtpWire& wire;
    Channel channel;
    Client* client;  // null: the guard's own, or of one that has left
    std::string id;  // of that client
    Peer peer;
    TimePoint next_dial{};
    bool was_open = false;
    std::vector<Client*> followers;  // whom the rest of the message goes to that is being read
  };

  struct Client final : PeerEvents {
    Client(ZmtpWire& w, Channel c, int fd);
    bool opened(const zmtp::Properties& peer) override;
    void head(Frames frames) override;
    void tail(std::string_view bytes, bool last) override;
    void command(const zmtp::Command& command) override;
    bool wants_to_read() const;
    bool wants(std::string_view topic) const;
    void subscribe(bool on, std::string_view topic);

    ZmtpWire& wire;
    Channel channel;
    Peer peer;
    std::unique_ptr<Back> back;
    std::string id;  // first frame of its messages, for the broker
    std::multiset<std::string, std::less<>> topics;
    TimePoint since;
  };

  // A client whose connection had to be ended inside a message, and what it has to be told once it is back.
  struct Missing {
    Channel channel;
    std::string id;
    std::deque<Bytes> messages;
    TimePoint until;
  };

  // What one entry of poller_ stands for; neither: a listening socket.
  struct Slot {
    Back* back = nullptr;
    Client* client = nullptr;
    Channel channel = Channel::shell;
  };

  Client* find(Channel channel, std::string_view id);
  void publish(Frames frames);
  void owe(int change);
  void welcome_back(Client& client);
  void cut(Client& client);
  void lose(Back& back);
  template <class Function>
  void for_each_back(Function function);
  // Dials what is not connected; milliseconds until it should be tried again, -1: all is.
  int dial_all(TimePoint now);
  void sweep(TimePoint now);
  void forget(Client& client);
  // The connection to the kernel of a client that has left and is back; null if there is none.
  std::unique_ptr<Back> take_from_leaving(Channel channel, std::string_view id);
  void accept(Channel channel);
  void flush_all();
  void fill_poller();
  void add_to_poller(const Peer& peer, bool reads, Slot slot);
  bool read(Back& back);

  Connection front_, back_;
  Handlers handlers_;
  std::array<int, 5> listeners_{};
  std::list<Client> clients_;
  struct Leaving {
    std::unique_ptr<Back> back;
    TimePoint until;
  };
  std::list<Leaving> leaving_;  // connections of clients that have left, until what they said is sent
  std::array<std::unique_ptr<Back>, 4> own_;
  std::vector<Missing> missing_;
  Back* reading_back_ = nullptr;  // whose message the broker is being given
  Client* reading_client_ = nullptr;
  Poller poller_;
  std::vector<Slot> slots_;
  std::vector<char> buffer_;
  uint64_t generation_ = 0;  // of kernels
  TimePoint started_{}, accept_again_{};
  uint32_t next_id_ = 0;
  int owed_ = 0;  // answers on shell to what the guard itself asked; what clients ask comes behind that
  bool has_kernel_ = false, lost_ = false, told_of_slowness_ = false;
};

}  // namespace plimsoll::guard

// One connection to a ZeroMQ peer: the handshake, what comes in, and what has to go out. Messages go out
// whole and in order; one whose buffers are still coming in is continued piece by piece, and what else there
// is to say waits behind it. One thread; nothing blocks.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "guard/frame.h"
#include "guard/zmtp_reader.h"

namespace plimsoll::guard {

using Bytes = std::shared_ptr<const std::string>;

// `frames` from index `first` on, as they travel; with `frames.tail` the message goes on behind them.
Bytes encode(const Frames& frames, size_t first);

class PeerEvents : public MessageSink {
 public:
  // The handshake is done. False: this peer is not wanted, and the connection ends.
  virtual bool opened(const zmtp::Properties& peer) = 0;
};

class Peer final : private MessageSink {
 public:
  // Speaks version 3.`minor` as a socket of the kind in `own`, and holds `most_held` bytes of one message at
  // most.
  Peer(PeerEvents& events, zmtp::Properties own, int minor, uint64_t most_held);
  ~Peer() override { close(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Takes over a non-blocking socket and begins the handshake. Requires: !connected().
  void begin(int fd);
  // Forgets the connection and what was under way on it; messages that wait for their turn still wait.
  void close();
  // Sends what is queued, and then closes; takes in nothing more.
  void finish();
  int fd() const { return fd_; }
  // Differs for each connection of the process.
  uint64_t serial() const { return serial_; }
  bool connected() const { return fd_ >= 0; }
  bool open() const { return state_ == State::open && !finishing_; }
  bool finishing() const { return finishing_; }
  void set_own_identity(std::string identity) { own_.identity = std::move(identity); }

  // Sends a message, behind one that is being continued, once the handshake is done, and not while on hold.
  void send(Bytes message);
  void set_on_hold(bool on);
  // Begins a message that is to be continued; it takes its turn as those of send() do. Requires:
  // !mid_message().
  void begin_message(Bytes head);
  void continue_message(std::string_view bytes, bool last);
  bool mid_message() const { return mid_message_ || begun_; }
  // The rest of the message that was begun will not come. False if some of it has been sent.
  bool abandon_message();
  // Writes out what the socket takes.
  void flush();
  // Bytes that wait for the socket.
  uint64_t unsent() const { return unsent_; }
  bool has_waiting() const { return !waiting_.empty(); }
  // Those that are whole; one that is not is forgotten.
  std::deque<Bytes> take_waiting();

  // One read, into `buffer`, and all that follows from it; `whole` as in MessageReader. False if there was
  // nothing, or the connection has ended: then it is closed.
  bool receive(char* buffer, size_t size, bool whole);

 private:
  enum class State { closed, greeting, handshake, open };
  void head(Frames frames) override;
  void tail(std::string_view bytes, bool last) override;
  void command(const zmtp::Command& command) override;
  bool take(std::string_view bytes, bool whole);
  void put(Bytes bytes);
  bool can_send() const { return open() && !mid_message_ && !on_hold_; }
  void send_waiting();
  bool write_some(const char* data, size_t size, size_t& written);

  PeerEvents& events_;
  zmtp::Properties own_;
  int minor_;
  uint64_t most_held_;
  int fd_ = -1;
  uint64_t serial_ = 0;
  State state_ = State::closed;
  bool finishing_ = false, broken_ = false, on_hold_ = false;
  bool mid_message_ = false;            // what is continued goes out at once,
  std::shared_ptr<std::string> begun_;  // or it is added to this, in waiting_
  std::string greeting_;
  MessageReader reader_;
  std::deque<Bytes> queue_, waiting_;
  size_t offset_ = 0;  // of the first of queue_
  uint64_t unsent_ = 0;
};

}  // namespace plimsoll::guard

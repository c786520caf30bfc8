#include "guard/zmq_wire.h"

#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

constexpr int kBurst = 256;
// Output beyond this waits for nobody: it is left out. 100,000 outputs are some 50 MB.
constexpr int64_t kMostUnsentBytes = int64_t{1} << 30;

constexpr size_t index(Channel channel) { return static_cast<size_t>(channel); }

void bind(zmq::socket_t& socket, const Connection& front, Channel channel) {
  socket.set(zmq::sockopt::linger, 1000);
  // No mark in messages: the default one drops output without a word. Bytes are counted instead.
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  if (channel == Channel::iopub) {
    socket.set(zmq::sockopt::xpub_verbose, 1);
  } else {
    socket.set(zmq::sockopt::router_handover, 1);
  }
  if (!front.curve_secret.empty()) {
    socket.set(zmq::sockopt::curve_server, 1);
    socket.set(zmq::sockopt::curve_publickey, front.curve_public);
    socket.set(zmq::sockopt::curve_secretkey, front.curve_secret);
  }
  const std::string endpoint = front.endpoint(channel);
  try {
    socket.bind(endpoint);
  } catch (const zmq::error_t& e) {
    fail(ErrorKind::io, "guard", "cannot bind ", name_of(channel), " to ", endpoint, ": ", e.what());
  }
}

std::optional<Frames> receive_frames(zmq::socket_t& socket) {
  Frames frames;
  for (bool more = true; more;) {
    Frame frame;
    if (!socket.recv(frame, frames.empty() ? zmq::recv_flags::dontwait : zmq::recv_flags::none))
      return std::nullopt;
    more = frame.more();
    frames.push_back(std::move(frame));
  }
  return frames;
}

void send_frames(zmq::socket_t& socket, Frames& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto flags = i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
    socket.send(frames[i], flags | zmq::send_flags::dontwait);
  }
}

// Runs in a destructor too, so a refused option is passed over.
void close_socket(zmq::socket_t& socket, int linger) noexcept {
  if (socket) zmq_setsockopt(socket.handle(), ZMQ_LINGER, &linger, sizeof linger);
  socket.close();
}

}  // namespace

ZmqWire::ZmqWire(const Connection& front) : ledger_(new Ledger) {
  for (Channel channel : kChannels) {
    auto& socket = front_[index(channel)];
    socket = zmq::socket_t(context_,
                           channel == Channel::iopub ? zmq::socket_type::xpub : zmq::socket_type::router);
    bind(socket, front, channel);
  }
}

ZmqWire::~ZmqWire() {
  close(0);
  release(ledger_);
}

void ZmqWire::close(int milliseconds) {
  monitor_.close();
  for (auto& socket : back_) close_socket(socket, 0);
  for (auto& socket : front_) close_socket(socket, milliseconds);
}

void ZmqWire::connect_kernel(const Connection& back) {
  monitor_.close();
  // One id for shell and stdin: a request for input is sent to the identities of the shell request.
  const std::string id = concat("plimsoll-", ++generation_);
  for (Channel channel : {Channel::shell, Channel::control, Channel::stdin_, Channel::iopub}) {
    auto& socket = back_[index(channel)];
    if (socket) socket.set(zmq::sockopt::linger, 0);
    socket =
        zmq::socket_t(context_, channel == Channel::iopub ? zmq::socket_type::sub : zmq::socket_type::dealer);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, 0);
    socket.set(zmq::sockopt::rcvhwm, 0);
    socket.set(zmq::sockopt::reconnect_ivl, 5);
    if (channel == Channel::iopub) {
      socket.set(zmq::sockopt::subscribe, "");
      const std::string events = concat("inproc://kernel-events-", generation_);
      zmq_socket_monitor(socket.handle(), events.c_str(), ZMQ_EVENT_DISCONNECTED);
      monitor_ = zmq::socket_t(context_, zmq::socket_type::pair);
      monitor_.set(zmq::sockopt::linger, 0);
      monitor_.connect(events);
    } else {
      socket.set(zmq::sockopt::routing_id, id);
    }
    socket.connect(back.endpoint(channel));
  }
  lost_ = false;
}

bool ZmqWire::kernel_disconnected() {
  while (monitor_ && receive_frames(monitor_)) lost_ = true;
  return lost_;
}

void ZmqWire::release(Ledger* ledger) {
  if (ledger->owners.fetch_sub(1) == 1) delete ledger;
}

namespace {
struct Loan {
  Frame frame;
  int64_t bytes;
};
}  // namespace

// Called by ZeroMQ, on its own thread, when the last subscriber has taken the message.
void ZmqWire::forget(void*, void* hint) {
  auto* pair = static_cast<std::pair<Loan, Ledger*>*>(hint);
  pair->second->bytes.fetch_sub(pair->first.bytes, std::memory_order_relaxed);
  release(pair->second);
  delete pair;
}

// The same bytes in a frame that tells when it is let go.
Frame ZmqWire::counted(Frame frame, int64_t bytes) {
  auto* pair = new std::pair<Loan, Ledger*>(Loan{std::move(frame), bytes}, ledger_);
  ledger_->bytes.fetch_add(bytes, std::memory_order_relaxed);
  ledger_->owners.fetch_add(1);
  return Frame(pair->first.frame.data(), pair->first.frame.size(), forget, pair);
}

void ZmqWire::to_client(Channel channel, Frames frames) {
  if (channel == Channel::iopub) {
    int64_t bytes = 0;
    for (const auto& frame : frames) bytes += static_cast<int64_t>(frame.size());
    const bool over = unsent_bytes() > kMostUnsentBytes;
    const auto envelope = over ? open_envelope(frames) : std::nullopt;
    // Status and errors are small and clients wait for them.
    if (envelope && (envelope->msg_type == "stream" || envelope->msg_type == "display_data" ||
                     envelope->msg_type == "update_display_data")) {
      if (dropped_++ == 0)
        std::fprintf(stderr, "plimsoll-guard: clients read too slowly; output is being left out\n");
      return;
    }
    frames.back() = counted(std::move(frames.back()), bytes);
  }
  send_frames(front_[index(channel)], frames);
}

void ZmqWire::to_kernel(Channel channel, Frames frames) { send_frames(back_[index(channel)], frames); }

void ZmqWire::wait(std::vector<pollfd>& others, int milliseconds) {
  items_.clear();
  for (auto& socket : front_) items_.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
  for (auto& socket : back_) {
    if (socket) items_.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
  }
  if (monitor_) items_.push_back({monitor_.handle(), 0, ZMQ_POLLIN, 0});
  const size_t ours = items_.size();
  for (auto& other : others) items_.push_back({nullptr, other.fd, ZMQ_POLLIN, 0});
  zmq_poll(reinterpret_cast<zmq_pollitem_t*>(items_.data()), static_cast<int>(items_.size()), milliseconds);
  for (size_t i = 0; i < others.size(); ++i) others[i].revents = items_[ours + i].revents;
}

void ZmqWire::drain() {
  while (receive_some()) {
  }
}

void ZmqWire::answer_heartbeats() {
  auto& socket = front_[index(Channel::hb)];
  for (int i = 0; i < kBurst; ++i) {
    auto frames = receive_frames(socket);
    if (!frames) return;
    send_frames(socket, *frames);
  }
}

bool ZmqWire::receive_subscriptions() {
  bool any = false;
  for (int i = 0; i < kBurst; ++i) {
    auto frames = receive_frames(front_[index(Channel::iopub)]);
    if (!frames) break;
    any = true;
    const std::string_view event = text_of(frames->front());
    if (!event.empty() && event[0] == 1) handlers_.subscribed(event.substr(1));
  }
  return any;
}

bool ZmqWire::receive_some() {
  answer_heartbeats();
  bool any = receive_subscriptions();
  // iopub first: the status and output of a request are then known before its reply.
  for (Channel channel : {Channel::iopub, Channel::shell, Channel::control, Channel::stdin_}) {
    for (int i = 0; i < kBurst; ++i) {
      auto frames = receive_frames(back_[index(channel)]);
      if (!frames) break;
      any = true;
      handlers_.from_kernel(channel, std::move(*frames));
    }
  }
  for (Channel channel : {Channel::control, Channel::shell, Channel::stdin_}) {
    for (int i = 0; i < kBurst; ++i) {
      auto frames = receive_frames(front_[index(channel)]);
      if (!frames) break;
      any = true;
      handlers_.from_client(channel, std::move(*frames));
    }
  }
  return any;
}

}  // namespace plimsoll::guard

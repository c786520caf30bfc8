// Where messages go: what each connection does with what it reads, and how the broker's words find their way.
#include <algorithm>
#include <cstdio>

#include "guard/zmtp_wire.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

constexpr uint64_t kMostFromClient = uint64_t{1} << 30, kMostFromKernel = uint64_t{4} << 30;
constexpr uint64_t kMostSmall = 64 << 10;  // of heartbeats and subscriptions
constexpr size_t kMostTopics = 1024;
// Whoever is behind by so much is waited for, where that holds up nobody else.
constexpr uint64_t kBehind = 512 << 10;
// Output beyond this waits for nobody: it is left out, and beyond the second the connection ends.
constexpr uint64_t kMostUnsent = uint64_t{1} << 30, kFarTooMuch = uint64_t{2} << 30;
// A client that was cut off connects again within a tenth of a second.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::string_view kSubscribeToAll("\0\1\1", 3);

using Clock = std::chrono::steady_clock;

uint64_t most_from_client(Channel channel) {
  return channel == Channel::hb || channel == Channel::iopub ? kMostSmall : kMostFromClient;
}

bool fits(Channel channel, std::string_view type) {
  if (channel == Channel::iopub) return type == "SUB" || type == "XSUB";
  return type == "DEALER" || type == "REQ" || type == "ROUTER";
}

void prepend(Frames& frames, std::string_view id) { frames.insert(frames.begin(), frame_of(id)); }

// Status and errors are small and clients wait for them.
bool can_be_left_out(const Frames& frames) {
  const auto envelope = open_envelope(frames);
  return envelope && (envelope->msg_type == "stream" || envelope->msg_type == "display_data" ||
                      envelope->msg_type == "update_display_data");
}

}  // namespace

// ---- connections to the kernel -----------------------------------------------------------------

ZmtpWire::Back::Back(ZmtpWire& w, Channel c, Client* of)
    : wire(w),
      channel(c),
      client(of),
      id(of ? of->id : ""),
      peer(*this, {c == Channel::iopub ? "SUB" : "DEALER", ""}, 0, kMostFromKernel) {}

bool ZmtpWire::Back::opened(const zmtp::Properties&) {
  was_open = true;
  if (channel == Channel::iopub) peer.send(std::make_shared<std::string>(kSubscribeToAll));
  return true;
}

void ZmtpWire::Back::head(Frames frames) {
  followers.clear();
  if (this == wire.own_[static_cast<size_t>(Channel::shell)].get() && text_of(frames[0]) == kDelimiter)
    wire.owe(-1);
  if (!id.empty()) prepend(frames, id);
  wire.reading_back_ = this;
  wire.handlers_.from_kernel(channel, std::move(frames));
  wire.reading_back_ = nullptr;
}

// One message at a time; a second can only be an answer to one who has left and come back meanwhile.
void ZmtpWire::Back::follow(Client& follower, Bytes head_of_message) {
  if (follower.peer.mid_message()) return;
  follower.peer.begin_message(std::move(head_of_message));
  followers.push_back(&follower);
}

void ZmtpWire::Back::tail(std::string_view bytes, bool last) {
  for (Client* follower : followers) follower->peer.continue_message(bytes, last);
  if (last) followers.clear();
}

// A large buffer comes in as fast as the fastest of those who follow it takes it; other messages are taken in
// at once, for what iopub is not relieved of, the kernel drops.
bool ZmtpWire::Back::wants_to_read() const {
  if (client) return client->peer.unsent() < kBehind;
  if (followers.empty()) return true;
  return std::any_of(followers.begin(), followers.end(),
                     [](Client* c) { return c->peer.unsent() < kBehind; });
}

// ---- clients -----------------------------------------------------------------------------------

ZmtpWire::Client::Client(ZmtpWire& w, Channel c, int fd)
    : wire(w),
      channel(c),
      peer(*this, {c == Channel::iopub ? "XPUB" : "ROUTER", ""}, 1, most_from_client(c)),
      since(Clock::now()) {
  peer.begin(fd);
}

bool ZmtpWire::Client::opened(const zmtp::Properties& its) {
  if (!fits(channel, its.socket_type)) return false;
  if (channel == Channel::iopub || channel == Channel::hb) return true;
  id = its.identity;
  if (id.empty()) {
    id = concat('\0', ++wire.next_id_);
  } else if (Client* earlier = wire.find(channel, id)) {
    // The same client, back before its first connection was known to be lost.
    earlier->peer.close();
    wire.forget(*earlier);
  }
  back = wire.take_from_leaving(channel, id);
  if (!back) back = std::make_unique<Back>(wire, channel, this);
  back->client = this;
  back->peer.set_own_identity(its.identity);
  back->peer.set_on_hold(channel == Channel::shell && wire.owed_ > 0);
  wire.welcome_back(*this);
  return true;
}

void ZmtpWire::Client::head(Frames frames) {
  if (channel == Channel::hb) return peer.send(encode(frames, 0));
  if (channel == Channel::iopub) {
    const std::string_view text = text_of(frames.front());
    if (!text.empty() && (text[0] == 0 || text[0] == 1)) subscribe(text[0] == 1, text.substr(1));
    return;
  }
  prepend(frames, id);
  wire.reading_client_ = this;
  wire.handlers_.from_client(channel, std::move(frames));
  wire.reading_client_ = nullptr;
}

void ZmtpWire::Client::tail(std::string_view bytes, bool last) {
  if (back) back->peer.continue_message(bytes, last);
}

void ZmtpWire::Client::command(const zmtp::Command& command) {
  if (command.name == "SUBSCRIBE") subscribe(true, command.data);
  if (command.name == "CANCEL") subscribe(false, command.data);
}

void ZmtpWire::Client::subscribe(bool on, std::string_view topic) {
  if (channel != Channel::iopub) return;
  if (!on) {
    if (const auto found = topics.find(topic); found != topics.end()) topics.erase(found);
    return;
  }
  if (topics.size() >= kMostTopics) return;
  topics.emplace(topic);
  wire.welcome_back(*this);
  wire.handlers_.subscribed(topic);
}

bool ZmtpWire::Client::wants(std::string_view topic) const {
  return std::any_of(topics.begin(), topics.end(), [&](auto& t) { return topic.substr(0, t.size()) == t; });
}

// A client whose kernel is behind waits at its own end, as it would without the guard.
bool ZmtpWire::Client::wants_to_read() const {
  if (!back) return peer.unsent() < kBehind;
  if (!back->peer.mid_message() && !wire.handlers_.passes_at_once()) return true;
  if (channel == Channel::shell && wire.owed_ > 0) return false;
  return back->peer.open() && back->peer.unsent() < kBehind;
}

// ---- the broker's side -------------------------------------------------------------------------

ZmtpWire::Client* ZmtpWire::find(Channel channel, std::string_view id) {
  for (auto& client : clients_) {
    if (client.channel == channel && client.peer.open() && client.back && client.id == id) return &client;
  }
  return nullptr;
}

void ZmtpWire::to_kernel(Channel channel, Frames frames) {
  if (frames.empty()) return;
  Client* client = find(channel, text_of(frames[0]));
  // A client that has left is spoken for by the guard's own connection; answers come back with its identity.
  if (!client) {
    if (channel == Channel::shell && text_of(frames[0]) == kDelimiter) owe(1);
    return own_[static_cast<size_t>(channel)]->peer.send(encode(frames, 0));
  }
  if (!frames.tail) return client->back->peer.send(encode(frames, 1));
  if (client == reading_client_) client->back->peer.begin_message(encode(frames, 1));
}

void ZmtpWire::to_client(Channel channel, Frames frames) {
  if (frames.empty()) return;
  if (channel == Channel::iopub) return publish(std::move(frames));
  const std::string_view id = text_of(frames[0]);
  if (Client* client = find(channel, id)) {
    if (!frames.tail) return client->peer.send(encode(frames, 1));
    if (reading_back_) reading_back_->follow(*client, encode(frames, 1));
    return;
  }
  for (auto& missing : missing_) {
    if (missing.channel == channel && missing.id == id && !frames.tail)
      missing.messages.push_back(encode(frames, 1));
  }
}

void ZmtpWire::publish(Frames frames) {
  const std::string_view topic = text_of(frames[0]);
  const Bytes bytes = encode(frames, 0);
  for (auto& client : clients_) {
    if (client.channel != Channel::iopub || !client.peer.open() || !client.wants(topic)) continue;
    if (client.peer.unsent() > kMostUnsent) {
      if (!told_of_slowness_)
        std::fputs("plimsoll-guard: clients read too slowly; output is being left out\n", stderr);
      told_of_slowness_ = true;
      if (client.peer.unsent() > kFarTooMuch) client.peer.close();
      if (!client.peer.open() || can_be_left_out(frames)) continue;
    }
    if (!frames.tail) {
      client.peer.send(bytes);
    } else if (reading_back_) {
      reading_back_->follow(client, bytes);
    }
  }
  for (auto& missing : missing_) {
    if (missing.channel == Channel::iopub && !frames.tail) missing.messages.push_back(bytes);
  }
}

// ---- a message that breaks off -----------------------------------------------------------------

// Half a message has gone to this client and the rest will never come. ZeroMQ drops such a half when the
// connection ends, and connects again by itself; what there is to say meanwhile is kept.
void ZmtpWire::cut(Client& client) {
  missing_.push_back({client.channel, client.id, client.peer.take_waiting(), Clock::now() + kPatience});
  client.since = Clock::now();
  client.peer.finish();
}

void ZmtpWire::welcome_back(Client& client) {
  const auto found = std::find_if(missing_.begin(), missing_.end(), [&](auto& missing) {
    return missing.channel == client.channel && missing.id == client.id;
  });
  if (found == missing_.end()) return;
  for (auto& message : found->messages) client.peer.send(std::move(message));
  missing_.erase(found);
}

}  // namespace plimsoll::guard

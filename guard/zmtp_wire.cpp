#include "guard/zmtp_wire.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "guard/sockets.h"

namespace plimsoll::guard {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kReadAtOnce = 256 << 10;
constexpr size_t kMostClients = 512;
constexpr auto kHandshakePatience = std::chrono::seconds(30);
constexpr auto kLeavingPatience = std::chrono::seconds(10);
constexpr auto kAcceptAgain = milliseconds(200);
constexpr int kDrainTurns = 10000;
// Owners of descriptors that are not ours, apart from the serial numbers of peers.
constexpr uint64_t kOthers = uint64_t{1} << 63;

constexpr size_t index(Channel channel) { return static_cast<size_t>(channel); }

}  // namespace

ZmtpWire::ZmtpWire(const Connection& front) : front_(front), buffer_(kReadAtOnce) {
  listeners_.fill(-1);
  for (size_t i = 0; i < own_.size(); ++i) own_[i] = std::make_unique<Back>(*this, kChannels[i], nullptr);
  try {
    for (Channel channel : kChannels) listeners_[index(channel)] = listen_at(front_, channel);
  } catch (...) {
    close(0);
    throw;
  }
}

ZmtpWire::~ZmtpWire() { close(0); }

void ZmtpWire::close(int patience) {
  const auto end = Clock::now() + milliseconds(patience);
  for (auto& fd : listeners_) {
    if (fd < 0) continue;
    ::close(fd);
    fd = -1;
    remove_endpoint(front_, kChannels[static_cast<size_t>(&fd - listeners_.data())]);
  }
  while (patience > 0 && Clock::now() < end) {
    std::vector<pollfd> waiting;
    flush_all();
    for (auto& client : clients_) {
      if (client.peer.unsent() > 0) waiting.push_back({client.peer.fd(), POLLOUT, 0});
    }
    if (waiting.empty()) break;
    ::poll(waiting.data(), static_cast<nfds_t>(waiting.size()), 10);
  }
  for (auto& back : own_) back->peer.close();
  leaving_.clear();
  clients_.clear();
}

template <class Function>
void ZmtpWire::for_each_back(Function function) {
  // iopub first: the status and output of a request are then known before its reply.
  function(*own_[index(Channel::iopub)]);
  for (Channel channel : {Channel::shell, Channel::control, Channel::stdin_}) function(*own_[index(channel)]);
  for (auto& client : clients_) {
    if (client.back) function(*client.back);
  }
  for (auto& leaving : leaving_) function(*leaving.back);
}

// ---- the kernel comes and goes -----------------------------------------------------------------

void ZmtpWire::connect_kernel(const Connection& back) {
  back_ = back;
  has_kernel_ = true;
  ++generation_;
  started_ = Clock::now();
  for_each_back([&](Back& b) {
    lose(b);
    b.peer.take_waiting();
    b.next_dial = started_;
  });
  lost_ = false;
  owe(-owed_);
}

// The kernel takes what comes by several connections in any order, and the guard's own code has to run first.
void ZmtpWire::owe(int change) {
  const bool was_owed = owed_ > 0;
  owed_ = std::max(0, owed_ + change);
  if (was_owed == (owed_ > 0)) return;
  for_each_back([&](Back& back) {
    if (back.channel == Channel::shell && !back.id.empty()) back.peer.set_on_hold(owed_ > 0);
  });
}

void ZmtpWire::lose(Back& back) {
  back.peer.close();
  for (Client* follower : back.followers) {
    if (!follower->peer.abandon_message()) cut(*follower);
  }
  back.followers.clear();
  if (&back == own_[index(Channel::iopub)].get() && back.was_open) lost_ = true;
  back.was_open = false;
}

// A kernel takes from tens of milliseconds to minutes until it listens; asking is cheap, and the longer it
// took the less often it is asked.
int ZmtpWire::dial_all(TimePoint now) {
  if (!has_kernel_) return -1;
  const auto pause = std::clamp<Clock::duration>((now - started_) / 32, milliseconds(2), milliseconds(250));
  bool all = true;
  const Peer& first = own_[index(Channel::shell)]->peer;
  auto try_one = [&](Back& back) {
    // Of the guard's own two are needed; the others speak for clients that have left, if there are any.
    const bool needed = back.client || back.channel == Channel::shell || back.channel == Channel::iopub;
    if (back.peer.connected() || (!needed && !back.peer.has_waiting())) return;
    all = false;
    if (now < back.next_dial || (!first.connected() && &back.peer != &first)) return;
    back.next_dial = now + pause;
    if (const int fd = dial(back_, back.channel); fd >= 0) back.peer.begin(fd);
  };
  try_one(*own_[index(Channel::shell)]);
  for_each_back(try_one);
  if (all) return -1;
  return static_cast<int>(std::chrono::duration_cast<milliseconds>(pause).count());
}

void ZmtpWire::drain() {
  bool any = true;
  for (int i = 0; any && i < kDrainTurns; ++i) {
    any = false;
    for_each_back([&](Back& back) { any = read(back) || any; });
  }
  for_each_back([&](Back& back) { lose(back); });
  has_kernel_ = false;
}

// ---- clients come and go -----------------------------------------------------------------------

void ZmtpWire::accept(Channel channel) {
  const int fd = accept_from(listeners_[index(channel)]);
  if (fd < 0) {
    // Out of descriptors, most likely: the socket stays readable, and must not keep the guard busy.
    if (errno != EAGAIN && errno != EWOULDBLOCK) accept_again_ = Clock::now() + kAcceptAgain;
    return;
  }
  if (clients_.size() >= kMostClients) {
    const auto idle = std::find_if(clients_.begin(), clients_.end(), [](auto& c) { return !c.peer.open(); });
    if (idle == clients_.end()) {
      ::close(fd);
      return;
    }
    idle->peer.close();
  }
  clients_.emplace_back(*this, channel, fd);
}

// Nothing may point at a client that is gone.
void ZmtpWire::forget(Client& client) {
  for_each_back([&](Back& back) {
    auto& followers = back.followers;
    followers.erase(std::remove(followers.begin(), followers.end(), &client), followers.end());
  });
  if (!client.back) return;
  // What it said before it left still goes to the kernel, unless it broke off within a message.
  Peer& peer = client.back->peer;
  client.back->client = nullptr;
  if (!peer.abandon_message()) return;
  leaving_.push_back({std::move(client.back), Clock::now() + kLeavingPatience});
}

// A second connection with the same identity would be ignored by the kernel as long as it has the first.
std::unique_ptr<ZmtpWire::Back> ZmtpWire::take_from_leaving(Channel channel, std::string_view id) {
  const auto found = std::find_if(leaving_.begin(), leaving_.end(), [&](const Leaving& leaving) {
    return leaving.back->channel == channel && leaving.back->id == id && !leaving.back->peer.finishing();
  });
  if (found == leaving_.end()) return nullptr;
  auto back = std::move(found->back);
  leaving_.erase(found);
  return back;
}

void ZmtpWire::sweep(TimePoint now) {
  for (auto at = clients_.begin(); at != clients_.end();) {
    const bool late = !at->peer.open() && now - at->since > kHandshakePatience;
    if (at->peer.connected() && !late) {
      ++at;
      continue;
    }
    forget(*at);
    at = clients_.erase(at);
  }
  leaving_.remove_if([&](Leaving& leaving) {
    Peer& peer = leaving.back->peer;
    if (peer.has_waiting()) return now > leaving.until;
    if (peer.open()) peer.finish();
    return !peer.connected() || now > leaving.until;
  });
  missing_.erase(std::remove_if(missing_.begin(), missing_.end(), [&](auto& m) { return now > m.until; }),
                 missing_.end());
}

// ---- waiting and reading -----------------------------------------------------------------------

void ZmtpWire::flush_all() {
  for (auto& client : clients_) {
    if (client.peer.unsent() > 0) client.peer.flush();
  }
  for_each_back([](Back& back) {
    if (back.peer.unsent() > 0) back.peer.flush();
  });
}

void ZmtpWire::add_to_poller(const Peer& peer, bool reads, Slot slot) {
  if (!peer.connected()) return;
  const int events = (reads && !peer.finishing() ? POLLIN : 0) | (peer.unsent() > 0 ? POLLOUT : 0);
  if (events == 0) return;
  poller_.add(peer.fd(), peer.serial(), static_cast<short>(events));
  slots_.push_back(slot);
}

void ZmtpWire::fill_poller() {
  poller_.begin();
  slots_.clear();
  for_each_back([&](Back& back) {
    add_to_poller(back.peer, back.wants_to_read(), {&back, nullptr, back.channel});
  });
  for (auto& client : clients_)
    add_to_poller(client.peer, client.wants_to_read(), {nullptr, &client, client.channel});
  if (accept_again_ != TimePoint{} && Clock::now() < accept_again_) return;
  for (Channel channel : kChannels) {
    poller_.add(listeners_[index(channel)], 0, POLLIN);
    slots_.push_back({nullptr, nullptr, channel});
  }
}

void ZmtpWire::wait(std::vector<pollfd>& others, int patience) {
  const TimePoint now = Clock::now();
  sweep(now);
  const int again = dial_all(now);
  if (again >= 0) patience = std::min(patience, again);
  flush_all();
  fill_poller();
  const size_t ours = slots_.size();
  // The kernel's pipes are new ones with each kernel.
  for (const auto& other : others) poller_.add(other.fd, kOthers + generation_, other.events);
  poller_.wait(patience);
  for (size_t i = 0; i < others.size(); ++i) others[i].revents = poller_.revents(ours + i);
}

bool ZmtpWire::read(Back& back) {
  const bool was_connected = back.peer.connected();
  const bool any = back.peer.receive(buffer_.data(), buffer_.size(), /*whole=*/false);
  if (was_connected && !back.peer.connected()) lose(back);
  flush_all();
  return any;
}

void ZmtpWire::receive() {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const short events = poller_.revents(i);
    if (events == 0) continue;
    const bool readable = events & ~POLLOUT;
    if (Back* back = slots_[i].back) {
      if (events & POLLOUT) back->peer.flush();
      if (readable) read(*back);
    } else if (Client* client = slots_[i].client) {
      if (events & POLLOUT) client->peer.flush();
      if (!readable) continue;
      const bool small = client->channel == Channel::hb || client->channel == Channel::iopub;
      client->peer.receive(buffer_.data(), buffer_.size(), small || !handlers_.passes_at_once());
      flush_all();
    } else {
      accept(slots_[i].channel);
    }
  }
  slots_.clear();
}

}  // namespace plimsoll::guard

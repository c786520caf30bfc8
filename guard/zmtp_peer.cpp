#include "guard/zmtp_peer.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace plimsoll::guard {

namespace {

constexpr size_t kMostPieces = 64;
constexpr size_t kMostPingContext = 16;
// A peer that has gone is an error and no signal; where there is no such flag the program ignores SIGPIPE.
#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;
#endif

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOTCONN || error == EINTR;
}

}  // namespace

Bytes encode(const Frames& frames, size_t first) {
  size_t size = 0;
  for (size_t i = first; i < frames.size(); ++i) size += 9 + frames[i].size();
  auto out = std::make_shared<std::string>();
  out->reserve(size);
  for (size_t i = first; i < frames.size(); ++i) {
    const bool more = frames.tail || i + 1 < frames.size();
    zmtp::append_head(*out, more ? zmtp::kMore : 0, frames[i].size());
    *out += text_of(frames[i]);
  }
  return out;
}

Peer::Peer(PeerEvents& events, zmtp::Properties own, int minor, uint64_t most_held)
    : events_(events), own_(std::move(own)), minor_(minor), most_held_(most_held), reader_(most_held) {}

void Peer::begin(int fd) {
  static uint64_t connections = 0;
  fd_ = fd;
  serial_ = ++connections;
  state_ = State::greeting;
  put(std::make_shared<std::string>(zmtp::greeting(minor_)));
  flush();
}

void Peer::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  state_ = State::closed;
  finishing_ = mid_message_ = broken_ = false;
  greeting_.clear();
  reader_ = MessageReader(most_held_);
  queue_.clear();
  offset_ = 0;
  unsent_ = 0;
}

void Peer::finish() {
  finishing_ = true;
  mid_message_ = false;
  flush();
}

// ---- out ---------------------------------------------------------------------------------------

void Peer::put(Bytes bytes) {
  unsent_ += bytes->size();
  queue_.push_back(std::move(bytes));
}

void Peer::send(Bytes message) {
  if (can_send()) {
    put(std::move(message));
  } else {
    waiting_.push_back(std::move(message));
  }
}

void Peer::set_on_hold(bool on) {
  on_hold_ = on;
  send_waiting();
}

void Peer::send_waiting() {
  while (can_send() && !waiting_.empty()) {
    mid_message_ = waiting_.front() == begun_;
    if (mid_message_) begun_.reset();
    put(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

std::deque<Bytes> Peer::take_waiting() {
  abandon_message();
  return std::exchange(waiting_, {});
}

void Peer::begin_message(Bytes head) {
  if (can_send()) {
    put(std::move(head));
    mid_message_ = true;
  } else {
    begun_ = std::make_shared<std::string>(*head);
    waiting_.push_back(begun_);
  }
}

bool Peer::abandon_message() {
  if (!begun_) return !mid_message_;
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), begun_));
  begun_.reset();
  return true;
}

void Peer::continue_message(std::string_view bytes, bool last) {
  if (begun_) {
    *begun_ += bytes;
    if (last) begun_.reset();
    return;
  }
  if (!mid_message_) return;
  if (!queue_.empty()) flush();
  if (!connected()) return;
  size_t written = 0;
  if (queue_.empty() && !write_some(bytes.data(), bytes.size(), written)) return;
  if (written < bytes.size()) put(std::make_shared<std::string>(bytes.substr(written)));
  if (!last) return;
  mid_message_ = false;
  send_waiting();
}

// False if the connection has ended.
bool Peer::write_some(const char* data, size_t size, size_t& written) {
  const ssize_t n = ::send(fd_, data, size, kSendFlags);
  if (n >= 0) {
    written = static_cast<size_t>(n);
  } else if (!would_block(errno)) {
    close();
    return false;
  }
  return true;
}

void Peer::flush() {
  while (!queue_.empty() && connected()) {
    std::array<iovec, kMostPieces> pieces;
    size_t count = 0;
    for (; count < std::min(queue_.size(), kMostPieces); ++count) {
      const size_t skipped = count == 0 ? offset_ : 0;
      pieces[count] = {const_cast<char*>(queue_[count]->data()) + skipped, queue_[count]->size() - skipped};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t n = ::sendmsg(fd_, &message, kSendFlags);
    if (n < 0) {
      if (!would_block(errno)) close();
      return;
    }
    unsent_ -= static_cast<uint64_t>(n);
    offset_ += static_cast<size_t>(n);
    while (!queue_.empty() && offset_ >= queue_.front()->size()) {
      offset_ -= queue_.front()->size();
      queue_.pop_front();
    }
    if (!queue_.empty() && n == 0) return;
  }
  if (finishing_ && queue_.empty()) close();
}

// ---- in ----------------------------------------------------------------------------------------

bool Peer::receive(char* buffer, size_t size, bool whole) {
  if (!connected() || finishing_) return false;
  const ssize_t n = ::recv(fd_, buffer, size, 0);
  if (n < 0 && would_block(errno)) return false;
  if (n <= 0 || !take({buffer, static_cast<size_t>(n)}, whole) || broken_) {
    close();
    return false;
  }
  return true;
}

bool Peer::take(std::string_view bytes, bool whole) {
  if (state_ == State::greeting) {
    const size_t taken = std::min(bytes.size(), zmtp::kGreetingSize - greeting_.size());
    greeting_ += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    const auto verdict = zmtp::judge_greeting(greeting_);
    if (verdict != zmtp::Greeting::good) return verdict == zmtp::Greeting::incomplete;
    put(std::make_shared<std::string>(zmtp::ready_command(own_)));
    state_ = State::handshake;
  }
  return reader_.feed(bytes, *this, whole);
}

void Peer::head(Frames frames) {
  broken_ = broken_ || state_ != State::open;
  if (!broken_) events_.head(std::move(frames));
}

void Peer::tail(std::string_view bytes, bool last) {
  if (!broken_) events_.tail(bytes, last);
}

void Peer::command(const zmtp::Command& command) {
  if (broken_) return;
  if (command.name == "READY" && state_ == State::handshake) {
    const auto properties = zmtp::parse_properties(command.data);
    state_ = State::open;
    broken_ = !properties || !events_.opened(*properties);
    if (!broken_) send_waiting();
  } else if (command.name == "ERROR" || state_ != State::open) {
    broken_ = true;
  } else if (command.name == "PING" && command.data.size() >= 2) {
    send(std::make_shared<std::string>(zmtp::command("PONG", command.data.substr(2, kMostPingContext))));
  } else {
    events_.command(command);
  }
}

}  // namespace plimsoll::guard

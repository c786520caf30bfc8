#include "guard/zmtp.h"

#include <algorithm>

namespace plimsoll::guard::zmtp {

namespace {

constexpr std::string_view kMechanism("NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
constexpr size_t kSignatureEnd = 9, kMajor = 10, kMechanismAt = 12;

void append_number(std::string& out, uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

uint64_t number(std::string_view bytes) {
  uint64_t value = 0;
  for (char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

// A text with its length before it, taken off `data`.
std::optional<std::string_view> take_text(std::string_view& data, size_t length_bytes) {
  if (data.size() < length_bytes) return std::nullopt;
  const uint64_t size = number(data.substr(0, length_bytes));
  data.remove_prefix(length_bytes);
  if (data.size() < size) return std::nullopt;
  const std::string_view text = data.substr(0, size);
  data.remove_prefix(size);
  return text;
}

void append_property(std::string& out, std::string_view name, std::string_view value) {
  append_number(out, name.size(), 1);
  out += name;
  append_number(out, value.size(), 4);
  out += value;
}

}  // namespace

std::string greeting(int minor) {
  std::string text(kGreetingSize, '\0');
  text[0] = '\xff';
  text[kSignatureEnd] = '\x7f';
  text[kMajor] = 3;
  text[kMajor + 1] = static_cast<char>(minor);
  text.replace(kMechanismAt, kMechanism.size(), kMechanism);
  return text;
}

Greeting judge_greeting(std::string_view text) {
  if (!text.empty() && text[0] != '\xff') return Greeting::bad;
  if (text.size() > kSignatureEnd && text[kSignatureEnd] != '\x7f') return Greeting::bad;
  if (text.size() > kMajor && static_cast<uint8_t>(text[kMajor]) < 3) return Greeting::bad;
  if (text.size() > kMechanismAt) {
    const std::string_view named = text.substr(kMechanismAt, kMechanism.size());
    if (named != kMechanism.substr(0, named.size())) return Greeting::bad;
  }
  return text.size() < kGreetingSize ? Greeting::incomplete : Greeting::good;
}

void append_head(std::string& out, uint8_t flags, uint64_t size) {
  const bool is_long = size > 255;
  out.push_back(static_cast<char>((flags & ~kLong) | (is_long ? kLong : 0)));
  append_number(out, size, is_long ? 8 : 1);
}

std::optional<Command> parse_command(std::string_view body) {
  const auto name = take_text(body, 1);
  if (!name || name->empty()) return std::nullopt;
  return Command{*name, body};
}

std::string command(std::string_view name, std::string_view data) {
  std::string out;
  append_head(out, kCommand, 1 + name.size() + data.size());
  append_number(out, name.size(), 1);
  out += name;
  out += data;
  return out;
}

std::optional<Properties> parse_properties(std::string_view data) {
  Properties properties;
  while (!data.empty()) {
    const auto name = take_text(data, 1);
    if (!name || name->empty()) return std::nullopt;
    const auto value = take_text(data, 4);
    if (!value) return std::nullopt;
    if (*name == "Socket-Type") properties.socket_type = *value;
    if (*name == "Identity") properties.identity = *value;
  }
  if (properties.identity.size() > 255) return std::nullopt;
  return properties;
}

std::string ready_command(const Properties& properties) {
  std::string data;
  append_property(data, "Socket-Type", properties.socket_type);
  append_property(data, "Identity", properties.identity);
  return command("READY", data);
}

// True once the head of a frame is whole.
bool FrameParser::take_head(std::string_view& input) {
  if (input.empty()) return false;
  if (head_.empty()) {
    const auto flags = static_cast<uint8_t>(input[0]);
    const bool fits =
        flags <= (kMore | kLong | kCommand) && (flags & (kMore | kCommand)) != (kMore | kCommand);
    if (!fits) {
      bad_ = true;
      return false;
    }
  }
  const auto flags = static_cast<uint8_t>(head_.empty() ? input[0] : head_[0]);
  const size_t whole = flags & kLong ? 9 : 2;
  const size_t taken = std::min(input.size(), whole - head_.size());
  head_ += input.substr(0, taken);
  input.remove_prefix(taken);
  if (head_.size() < whole) return false;
  flags_ = flags;
  size_ = rest_ = number(std::string_view(head_).substr(1));
  head_.clear();
  bad_ = size_ >> 63 != 0 || ((flags_ & kCommand) && size_ > kMostCommand);
  return !bad_;
}

std::optional<FrameParser::Piece> FrameParser::next(std::string_view& input) {
  if (bad_) return std::nullopt;
  const bool first = !in_body_;
  if (first && !take_head(input)) return std::nullopt;
  if (!first && input.empty() && rest_ > 0) return std::nullopt;
  const size_t taken = static_cast<size_t>(std::min<uint64_t>(input.size(), rest_));
  Piece piece{flags_, size_, input.substr(0, taken), first, taken == rest_};
  input.remove_prefix(taken);
  rest_ -= taken;
  in_body_ = !piece.last;
  return piece;
}

}  // namespace plimsoll::guard::zmtp

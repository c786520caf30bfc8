// The ZeroMQ message transport protocol, version 3 (rfc.zeromq.org/spec/37), with the NULL mechanism:
// greetings, commands and the heads of frames. Pure functions over bytes that may come from anybody; no
// sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll::guard::zmtp {

inline constexpr uint8_t kMore = 1, kLong = 2, kCommand = 4;
inline constexpr size_t kGreetingSize = 64;
// A command is a name and a few properties; nothing honest comes near this.
inline constexpr uint64_t kMostCommand = 16 << 10;

// The greeting of a peer that speaks version 3.`minor`.
std::string greeting(int minor);

enum class Greeting { incomplete, good, bad };
// Judges what has arrived of a peer's greeting, as early as it can be: bad is a peer of version 1 or 2, of
// another mechanism, or one that speaks something else.
Greeting judge_greeting(std::string_view so_far);

// Appends the head of a frame of `size` bytes.
void append_head(std::string& out, uint8_t flags, uint64_t size);

struct Command {
  std::string_view name, data;
};
// Nothing if `body` is no command.
std::optional<Command> parse_command(std::string_view body);
// A command as a whole frame.
std::string command(std::string_view name, std::string_view data);

struct Properties {
  std::string socket_type;
  std::string identity;
};
// Of the data of a READY command; nothing if they are garbled.
std::optional<Properties> parse_properties(std::string_view data);
std::string ready_command(const Properties& properties);

// Cuts a stream into frames, or pieces of them, without holding any of it.
class FrameParser {
 public:
  struct Piece {
    uint8_t flags = 0;
    uint64_t size = 0;       // of the whole frame
    std::string_view bytes;  // of its body, what there is
    bool first = false, last = false;
  };
  // Takes the next piece off `input`. Nothing once the input is used up, or the stream is bad.
  std::optional<Piece> next(std::string_view& input);
  // A reserved flag, a command that is not the whole of itself, or a size beyond 2^63 - 1: no frame can be
  // found any more.
  bool bad() const { return bad_; }

 private:
  bool take_head(std::string_view& input);

  std::string head_;  // of a frame, until it is whole
  bool in_body_ = false, bad_ = false;
  uint8_t flags_ = 0;
  uint64_t size_ = 0, rest_ = 0;
};

}  // namespace plimsoll::guard::zmtp

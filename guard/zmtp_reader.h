// Follows the stream of one connection and finds the messages in it. The parts of a message that the guard
// acts on come as frames; its buffers, behind them, are handed on as they arrive and never gathered. One
// thread.
#pragma once

#include <string>
#include <string_view>

#include "guard/frame.h"
#include "guard/zmtp.h"

namespace plimsoll::guard {

class MessageSink {
 public:
  virtual ~MessageSink() = default;
  // A message: all of it, or, if `frames.tail`, all up to its content; the rest comes by tail().
  virtual void head(Frames frames) = 0;
  // The next bytes of the message, heads of frames included; `last`: it ends here.
  virtual void tail(std::string_view bytes, bool last) = 0;
  virtual void command(const zmtp::Command& command) = 0;
};

class MessageReader {
 public:
  // `most_held`: bytes of one message that are gathered at most.
  explicit MessageReader(uint64_t most_held = uint64_t{256} << 20) : most_held_(most_held) {}

  // Reads `input` to its end. With `whole`, messages that begin in it come with their buffers. False if the
  // stream is broken or asks to hold too much: nothing can be made of what follows.
  bool feed(std::string_view input, MessageSink& sink, bool whole);

 private:
  bool gather(const zmtp::FrameParser::Piece& piece, MessageSink& sink, bool whole);
  void pass(const zmtp::FrameParser::Piece& piece, MessageSink& sink);
  bool take_command(const zmtp::FrameParser::Piece& piece, MessageSink& sink);
  Frame make_frame(std::string_view bytes);

  uint64_t most_held_;
  zmtp::FrameParser parser_;
  Frames frames_;
  std::string partial_;  // of a frame or command that has not wholly arrived
  uint64_t held_ = 0;
  size_t delimiter_ = 0;  // 1 + its index; 0: not seen
  bool passing_ = false, whole_ = false;
};

}  // namespace plimsoll::guard

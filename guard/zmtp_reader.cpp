#include "guard/zmtp_reader.h"

#include <algorithm>

namespace plimsoll::guard {

namespace {

using Piece = zmtp::FrameParser::Piece;

// More identities than any chain of proxies has.
constexpr size_t kMostIdentities = 64;
constexpr size_t kPartsAfterDelimiter = 5;
constexpr uint64_t kReservedAtMost = 1 << 20;
constexpr size_t kCopiedAtMost = 64 << 10;

}  // namespace

// A large frame that came in pieces is handed on in the memory it was gathered in.
Frame MessageReader::make_frame(std::string_view bytes) {
  if (partial_.empty()) return frame_of(bytes);
  partial_ += bytes;
  if (partial_.size() <= kCopiedAtMost) {
    Frame frame = frame_of(partial_);
    partial_.clear();
    return frame;
  }
  auto* owned = new std::string(std::move(partial_));
  partial_ = std::string();
  return Frame(
      owned->data(), owned->size(), [](void*, void* hint) { delete static_cast<std::string*>(hint); }, owned);
}

bool MessageReader::take_command(const Piece& piece, MessageSink& sink) {
  partial_ += piece.bytes;
  if (!piece.last) return true;
  const std::string body = std::move(partial_);
  partial_.clear();
  const auto command = zmtp::parse_command(body);
  if (command) sink.command(*command);
  return command.has_value();
}

void MessageReader::pass(const Piece& piece, MessageSink& sink) {
  const bool last = piece.last && !(piece.flags & zmtp::kMore);
  if (piece.first) {
    std::string head;
    zmtp::append_head(head, piece.flags, piece.size);
    sink.tail(head, last && piece.bytes.empty());
  }
  if (!piece.bytes.empty()) sink.tail(piece.bytes, last);
  passing_ = !last;
}

bool MessageReader::gather(const Piece& piece, MessageSink& sink, bool whole) {
  if (frames_.empty() && piece.first) whole_ = whole;
  held_ += piece.bytes.size() + (piece.first ? sizeof(Frame) : 0);
  if (held_ > most_held_) return false;
  if (!piece.last) {
    if (piece.first) partial_.reserve(static_cast<size_t>(std::min(piece.size, kReservedAtMost)));
    partial_ += piece.bytes;
    return true;
  }
  frames_.push_back(make_frame(piece.bytes));
  if (delimiter_ == 0 && text_of(frames_.back()) == kDelimiter) delimiter_ = frames_.size();
  const bool more = piece.flags & zmtp::kMore;
  if (more && delimiter_ == 0 && frames_.size() > kMostIdentities) return false;
  const bool has_parts = delimiter_ != 0 && frames_.size() == delimiter_ + kPartsAfterDelimiter;
  if (more && (whole_ || !has_parts)) return true;
  Frames frames = std::move(frames_);
  frames_ = Frames();
  frames.tail = passing_ = more;
  held_ = delimiter_ = 0;
  sink.head(std::move(frames));
  return true;
}

bool MessageReader::feed(std::string_view input, MessageSink& sink, bool whole) {
  while (auto piece = parser_.next(input)) {
    if (piece->flags & zmtp::kCommand) {
      if (!take_command(*piece, sink)) return false;
    } else if (passing_) {
      pass(*piece, sink);
    } else if (!gather(*piece, sink, whole)) {
      return false;
    }
  }
  return !parser_.bad();
}

}  // namespace plimsoll::guard

// The frames of one message, as they travel.
#pragma once

#include <string_view>
#include <vector>
#include <zmq.hpp>

namespace plimsoll::guard {

using Frame = zmq::message_t;

struct Frames : std::vector<Frame> {
  using std::vector<Frame>::vector;
  // More frames of this message are still coming in: the wire lets them follow behind these.
  bool tail = false;
};

inline std::string_view text_of(const Frame& f) { return {static_cast<const char*>(f.data()), f.size()}; }
inline Frame frame_of(std::string_view text) { return Frame(text.data(), text.size()); }

// Stands before the signed parts of every Jupyter message.
inline constexpr std::string_view kDelimiter = "<IDS|MSG>";

}  // namespace plimsoll::guard

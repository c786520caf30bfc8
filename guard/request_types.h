// What the type of a request says about it.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace plimsoll::guard {

// Requests that ask and do not act: a new kernel can answer them as well as the old one.
inline bool can_be_asked_again(std::string_view type) {
  constexpr std::array<std::string_view, 6> kTypes = {"kernel_info_request", "complete_request",
                                                      "inspect_request",     "history_request",
                                                      "is_complete_request", "comm_info_request"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

inline bool has_reply(std::string_view type) {
  return type.size() > 8 && type.substr(type.size() - 8) == "_request";
}

inline std::string reply_type(const std::string& request_type) {
  return request_type.substr(0, request_type.size() - 8) + "_reply";
}

}  // namespace plimsoll::guard

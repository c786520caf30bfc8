// Cuts a stream of bytes at character borders, so that each piece is valid text of its own.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll::guard {

class Utf8Stream {
 public:
  // What can be shown now: the bytes kept back before and these, up to the last whole character.
  std::string take(std::string_view bytes) {
    kept_ += bytes;
    std::string text = kept_.substr(0, whole(kept_));
    kept_.erase(0, text.size());
    return text;
  }

 private:
  static size_t whole(const std::string& s) {
    for (size_t back = 1; back <= 3 && back <= s.size(); ++back) {
      const auto c = static_cast<unsigned char>(s[s.size() - back]);
      if ((c & 0xC0) == 0x80) continue;
      const size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
      return length > back ? s.size() - back : s.size();
    }
    return s.size();
  }
  std::string kept_;
};

}  // namespace plimsoll::guard

#include "guard/message.h"

#include <openssl/crypto.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>

#include "guard/timestamp.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

using nlohmann::json;

namespace {

// Walks over JSON text. Every step checks the end, so that broken text ends the walk and nothing else.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  void space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
  }
  bool eat(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at(char c) {
    space();
    return at_ < text_.size() && text_[at_] == c;
  }
  // The text between quotes, escapes left as they are.
  std::optional<std::string_view> quoted() {
    if (!eat('"')) return std::nullopt;
    const size_t begin = at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        return text_.substr(begin, at_++ - begin);
      }
    }
    return std::nullopt;
  }
  bool skip_value() {
    space();
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        if (!quoted()) return false;
      } else if (c == '{' || c == '[') {
        ++depth, ++at_;
      } else if (c == '}' || c == ']') {
        if (depth == 0) return true;
        --depth, ++at_;
      } else if (c == ',' && depth == 0) {
        return true;
      } else {
        ++at_;
      }
      if (depth == 0 && (c == '"' || c == '}' || c == ']')) return true;
    }
    return false;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Frame share(Frame& frame) {
  Frame other;
  other.copy(frame);
  return other;
}

std::optional<std::string> string_member(std::string_view text, std::string_view key) {
  Walker walk(text);
  if (!walk.eat('{')) return std::nullopt;
  while (auto name = walk.quoted()) {
    if (!walk.eat(':')) return std::nullopt;
    if (*name == key) {
      auto value = walk.quoted();
      if (!value) return std::nullopt;
      if (value->find('\\') == std::string_view::npos) return std::string(*value);
      auto parsed = json::parse(concat("\"", *value, "\""), nullptr, /*allow_exceptions=*/false);
      if (!parsed.is_string()) return std::nullopt;
      return parsed.get<std::string>();
    }
    if (!walk.skip_value() || !walk.eat(',')) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Envelope> open_envelope(const Frames& frames) {
  Envelope e;
  while (e.delimiter < frames.size() && text_of(frames[e.delimiter]) != kDelimiter) ++e.delimiter;
  if (e.delimiter + 6 > frames.size()) return std::nullopt;
  const std::string_view header = text_of(frames[e.header()]);
  auto id = string_member(header, "msg_id");
  auto type = string_member(header, "msg_type");
  if (!id || id->empty() || !type || type->empty()) return std::nullopt;
  e.msg_id = std::move(*id);
  e.msg_type = std::move(*type);
  e.session = string_member(header, "session").value_or("");
  e.subshell_id = string_member(header, "subshell_id").value_or("");
  return e;
}

bool signature_fits(Signer& signer, const Frames& frames, size_t d) {
  if (!signer.enabled()) return true;
  const std::string expected = signer.sign(text_of(frames[d + 2]), text_of(frames[d + 3]),
                                           text_of(frames[d + 4]), text_of(frames[d + 5]));
  const std::string_view got = text_of(frames[d + 1]);
  return got.size() == expected.size() && CRYPTO_memcmp(got.data(), expected.data(), got.size()) == 0;
}

Frames Author::make(std::string_view msg_type, Frames identities, std::string_view parent_header,
                    const json& content, const json& metadata) {
  last_id_ = random_hex();
  const json header = {{"msg_id", last_id_},  {"msg_type", msg_type}, {"username", "plimsoll"},
                       {"session", session_}, {"date", timestamp()},  {"version", "5.3"}};
  // Text from a dying process may break off inside a character; it must not stop the message.
  constexpr auto kReplace = json::error_handler_t::replace;
  const std::string h = header.dump(-1, ' ', false, kReplace);
  const std::string m = metadata.dump(-1, ' ', false, kReplace);
  const std::string c = content.dump(-1, ' ', false, kReplace);
  const std::string_view p = parent_header.empty() ? std::string_view("{}") : parent_header;
  const std::string signature = signer_->sign(h, p, m, c);
  Frames frames = std::move(identities);
  for (std::string_view part : {kDelimiter, std::string_view(signature), std::string_view(h), p,
                                std::string_view(m), std::string_view(c)}) {
    frames.push_back(frame_of(part));
  }
  return frames;
}

std::string random_hex() {
  unsigned char bytes[16];
  if (::getentropy(bytes, sizeof bytes) != 0) fail(ErrorKind::internal, "guard", "no source of randomness");
  char text[33];
  for (size_t i = 0; i < sizeof bytes; ++i) std::snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  return std::string(text, 32);
}

}  // namespace plimsoll::guard

// Messages of the Jupyter wire protocol, as frames: identities, <IDS|MSG>, signature, header, parent
// header, metadata, content, buffers. What passes through is looked at and never rebuilt; what the guard
// has to say itself is built and signed here. Pure functions; no sockets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guard/frame.h"
#include "guard/signer.h"

namespace plimsoll::guard {

// A second owner of the same bytes: small ones are copied, large ones counted.
Frame share(Frame& frame);

// The string member `key` of a JSON object, found without parsing the rest. Nothing if absent, not a
// string, or if the text ends or breaks before it is found.
std::optional<std::string> string_member(std::string_view json, std::string_view key);

// The header fields of a message that the guard acts on, and where its parts lie.
struct Envelope {
  size_t delimiter = 0;  // index of <IDS|MSG>; the identities come before it
  std::string msg_id;
  std::string msg_type;
  std::string session;
  std::string subshell_id;  // empty: the main shell

  size_t header() const { return delimiter + 2; }
  size_t parent() const { return delimiter + 3; }
  size_t metadata() const { return delimiter + 4; }
  size_t content() const { return delimiter + 5; }
};

// Nothing unless `frames` has a delimiter, a signature and four parts, and a header with id and type.
std::optional<Envelope> open_envelope(const Frames& frames);

// Whether the signature fits header, parent, metadata and content.
bool signature_fits(Signer& signer, const Frames& frames, size_t delimiter);

// Makes messages of its own in the name of one session.
class Author {
 public:
  Author(Signer& signer, std::string session) : signer_(&signer), session_(std::move(session)) {}
  const std::string& session() const { return session_; }
  void set_session(std::string session) { session_ = std::move(session); }

  // A signed message. `identities` go first as they are; `parent_header` is a JSON text.
  Frames make(std::string_view msg_type, Frames identities, std::string_view parent_header,
              const nlohmann::json& content, const nlohmann::json& metadata = nlohmann::json::object());
  // The id of the message made last.
  const std::string& last_id() const { return last_id_; }

 private:
  Signer* signer_;
  std::string session_;
  std::string last_id_;
};

// 32 hexadecimal digits from the system's source of randomness.
std::string random_hex();

}  // namespace plimsoll::guard

// HMAC signatures of Jupyter messages. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct evp_mac_ctx_st;

namespace plimsoll::guard {

class Signer {
 public:
  // `scheme` is "hmac-sha256" or another digest of OpenSSL. An empty key signs nothing.
  // Throws Error{unsupported} if the digest is unknown.
  Signer(std::string_view key, std::string_view scheme);
  ~Signer();
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  bool enabled() const { return context_ != nullptr; }
  // In hexadecimal; empty if there is no key.
  std::string sign(std::string_view header, std::string_view parent, std::string_view metadata,
                   std::string_view content);

 private:
  evp_mac_ctx_st* context_ = nullptr;
};

}  // namespace plimsoll::guard

// HMAC signatures of Jupyter messages. One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace plimsoll::guard {

class Signer {
 public:
  // `scheme` is "hmac-sha256" or another digest of OpenSSL. An empty key signs nothing.
  // Throws Error{unsupported} if the digest is unknown.
  Signer(std::string_view key, std::string_view scheme);
  ~Signer();
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;

  bool enabled() const { return method_ != nullptr; }
  // In hexadecimal; empty if there is no key.
  std::string sign(std::string_view header, std::string_view parent, std::string_view metadata,
                   std::string_view content);

 private:
  struct Method;
  struct Sha256;
  struct AnyDigest;
  std::unique_ptr<Method> method_;
};

}  // namespace plimsoll::guard

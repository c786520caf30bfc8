#include "guard/signer.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "plimsoll/error.h"

namespace plimsoll::guard {

Signer::Signer(std::string_view key, std::string_view scheme) {
  if (key.empty()) return;
  std::string digest(scheme.substr(0, 5) == "hmac-" ? scheme.substr(5) : std::string_view());
  if (digest.empty() || !EVP_get_digestbyname(digest.c_str())) {
    fail(ErrorKind::unsupported, "guard", "expected a signature scheme such as hmac-sha256, got ", scheme);
  }
  EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  context_ = EVP_MAC_CTX_new(mac);
  EVP_MAC_free(mac);
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
  const auto* bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (!context_ || !EVP_MAC_init(context_, bytes, key.size(), params)) {
    EVP_MAC_CTX_free(context_);
    fail(ErrorKind::internal, "guard", "cannot set up signatures with ", scheme);
  }
}

Signer::~Signer() { EVP_MAC_CTX_free(context_); }

std::string Signer::sign(std::string_view header, std::string_view parent, std::string_view metadata,
                         std::string_view content) {
  if (!context_) return {};
  unsigned char out[EVP_MAX_MD_SIZE];
  size_t size = 0;
  // Without a key, init starts over with the one given before.
  bool ok = EVP_MAC_init(context_, nullptr, 0, nullptr) == 1;
  for (std::string_view part : {header, parent, metadata, content}) {
    ok = ok && EVP_MAC_update(context_, reinterpret_cast<const unsigned char*>(part.data()), part.size()) == 1;
  }
  if (!ok || EVP_MAC_final(context_, out, &size, sizeof out) != 1) {
    fail(ErrorKind::internal, "guard", "cannot sign a message");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex(2 * size, '0');
  for (size_t i = 0; i < size; ++i) {
    hex[2 * i] = kDigits[out[i] >> 4];
    hex[2 * i + 1] = kDigits[out[i] & 15];
  }
  return hex;
}

}  // namespace plimsoll::guard

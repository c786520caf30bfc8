// SHA-256, which all clients use, is called directly: OpenSSL's providers for everything else would make up a
// third of the guard's memory. Another digest brings them in.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "guard/signer.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>

#include <array>
#include <initializer_list>

#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

using Parts = std::initializer_list<std::string_view>;

std::string hexadecimal(const unsigned char* bytes, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex(2 * size, '0');
  for (size_t i = 0; i < size; ++i) {
    hex[2 * i] = kDigits[bytes[i] >> 4];
    hex[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return hex;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

struct Signer::Method {
  virtual ~Method() = default;
  virtual std::string sign(Parts parts) = 0;
};

// RFC 2104 with both keyed states kept ready.
struct Signer::Sha256 final : Signer::Method {
  explicit Sha256(std::string_view key) {
    std::array<unsigned char, SHA256_CBLOCK> block{};
    if (key.size() > block.size()) {
      SHA256(bytes_of(key), key.size(), block.data());
    } else {
      std::copy(key.begin(), key.end(), block.begin());
    }
    for (auto& b : block) b ^= 0x36;
    SHA256_Init(&inner);
    SHA256_Update(&inner, block.data(), block.size());
    for (auto& b : block) b ^= 0x36 ^ 0x5c;
    SHA256_Init(&outer);
    SHA256_Update(&outer, block.data(), block.size());
  }
  std::string sign(Parts parts) override {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX context = inner;
    for (std::string_view part : parts) SHA256_Update(&context, part.data(), part.size());
    SHA256_Final(digest, &context);
    context = outer;
    SHA256_Update(&context, digest, sizeof digest);
    SHA256_Final(digest, &context);
    return hexadecimal(digest, sizeof digest);
  }
  SHA256_CTX inner, outer;
};

struct Signer::AnyDigest final : Signer::Method {
  AnyDigest(std::string_view key, std::string digest) {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    context = EVP_MAC_CTX_new(mac);
    EVP_MAC_free(mac);
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                 OSSL_PARAM_construct_end()};
    if (!context || !EVP_MAC_init(context, bytes_of(key), key.size(), params)) {
      EVP_MAC_CTX_free(context);
      fail(ErrorKind::internal, "guard", "cannot set up signatures with ", digest);
    }
  }
  ~AnyDigest() override { EVP_MAC_CTX_free(context); }
  std::string sign(Parts parts) override {
    unsigned char out[EVP_MAX_MD_SIZE];
    size_t size = 0;
    // Without a key, init starts over with the one given before.
    bool ok = EVP_MAC_init(context, nullptr, 0, nullptr) == 1;
    for (std::string_view part : parts) ok = ok && EVP_MAC_update(context, bytes_of(part), part.size()) == 1;
    if (!ok || EVP_MAC_final(context, out, &size, sizeof out) != 1) {
      fail(ErrorKind::internal, "guard", "cannot sign a message");
    }
    return hexadecimal(out, size);
  }
  EVP_MAC_CTX* context = nullptr;
};

Signer::Signer(std::string_view key, std::string_view scheme) {
  if (key.empty()) return;
  const std::string digest(scheme.substr(0, 5) == "hmac-" ? scheme.substr(5) : std::string_view());
  if (digest == "sha256") {
    method_ = std::make_unique<Sha256>(key);
  } else if (!digest.empty() && EVP_get_digestbyname(digest.c_str())) {
    method_ = std::make_unique<AnyDigest>(key, digest);
  } else {
    fail(ErrorKind::unsupported, "guard", "expected a signature scheme such as hmac-sha256, got ", scheme);
  }
}

Signer::~Signer() = default;

std::string Signer::sign(std::string_view header, std::string_view parent, std::string_view metadata,
                         std::string_view content) {
  return method_ ? method_->sign({header, parent, metadata, content}) : std::string();
}

}  // namespace plimsoll::guard

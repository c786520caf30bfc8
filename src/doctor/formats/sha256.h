// SHA-256 (FIPS 180-4), for the hashes in RECORD files. Our own, so that the doctor needs no library that the
// environment it examines could replace.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll::doctor {

// `portable`: without the instructions that some processors have for it.
std::array<uint8_t, 32> sha256(std::string_view bytes, bool portable = false);
// As RECORD has it: URL-safe base64 without padding.
std::string sha256_base64(std::string_view bytes);

}  // namespace plimsoll::doctor

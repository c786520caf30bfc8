#include "doctor/formats/ld_cache.h"

namespace plimsoll::doctor {
namespace {

constexpr std::string_view kOldMagic = "ld.so-1.7.0", kMagic = "glibc-ld.so.cache1.1";
constexpr uint64_t kHeader = 48, kEntry = 24;

}  // namespace

std::unordered_map<std::string, std::vector<std::string>> parse_ld_cache(Bytes file) {
  if (file.text().starts_with(kOldMagic)) {
    // The old format comes first, with the new one behind it, aligned to 8 bytes.
    const uint64_t end = 16 + uint64_t{file.u32(12)} * 12;
    file = file.from((end + 7) / 8 * 8);
  }
  if (!file.text().starts_with(kMagic)) fail(ErrorKind::bad_file, "ld.so.cache", "expected ", kMagic);
  std::unordered_map<std::string, std::vector<std::string>> files;
  const uint32_t count = file.u32(20);
  const Bytes entries = file.sub(kHeader, count * kEntry);
  for (uint64_t at = 0; at < entries.size(); at += kEntry) {
    files[std::string(file.c_string(entries.u32(at + 4)))].emplace_back(file.c_string(entries.u32(at + 8)));
  }
  return files;
}

}  // namespace plimsoll::doctor

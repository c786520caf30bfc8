#include "guard/instruction.h"

#include <array>
#include <sstream>
#include <string_view>

#include "guard/files.h"

namespace plimsoll::guard {

std::string instruction_family(const std::vector<uint8_t>& bytes) {
#if defined(__x86_64__)
  if (bytes.size() < 2) return {};
  if (bytes[0] == 0x0F && bytes[1] == 0x0B)
    return "ud2: put there by the compiler for code that must not be reached";
  if (bytes[0] == 0x62) return "AVX-512";
  if (bytes[0] == 0xC4 || bytes[0] == 0xC5) return "AVX, AVX2 or FMA";
  size_t i = 0;
  while (i < bytes.size() &&
         (bytes[i] == 0x66 || bytes[i] == 0xF2 || bytes[i] == 0xF3 || (bytes[i] & 0xF0) == 0x40))
    ++i;
  if (i + 1 < bytes.size() && bytes[i] == 0x0F && (bytes[i + 1] == 0x38 || bytes[i + 1] == 0x3A))
    return "SSSE3, SSE4 or AES";
  if (i + 1 < bytes.size() && bytes[i] == 0x0F && bytes[i + 1] == 0xB8) return "POPCNT";
#else
  (void)bytes;
#endif
  return {};
}

std::string cpu_features() {
  constexpr std::array<std::string_view, 16> kOfInterest = {
      "ssse3", "sse4_1", "sse4_2",  "popcnt",   "aes",      "avx",      "avx2",     "fma",
      "f16c",  "bmi2",   "avx512f", "avx512bw", "avx512vl", "avx_vnni", "amx_tile", "asimd"};
  const std::string text = read_file("/proc/cpuinfo").value_or("");
  size_t at = text.find("\nflags");
  if (at == std::string::npos) at = text.find("\nFeatures");
  if (at == std::string::npos) return {};
  std::istringstream flags(text.substr(at + 1, text.find('\n', at + 1) - at));
  std::string found;
  for (std::string flag; flags >> flag;) {
    for (std::string_view wanted : kOfInterest) {
      if (flag == wanted) found += (found.empty() ? "" : " ") + flag;
    }
  }
  return found;
}

}  // namespace plimsoll::guard

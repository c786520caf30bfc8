#include "common/bytes.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

// 0: no such unit. Names are in lower case.
double unit_bytes(std::string_view name) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr Unit kUnits[] = {{"", 1},         {"b", 1},        {"k", 0x1p10},   {"kib", 0x1p10},
                             {"kb", 1e3},     {"m", 0x1p20},   {"mib", 0x1p20}, {"mb", 1e6},
                             {"g", 0x1p30},   {"gib", 0x1p30}, {"gb", 1e9},     {"t", 0x1p40},
                             {"tib", 0x1p40}, {"tb", 1e12}};
  for (const Unit& u : kUnits) {
    if (u.name == name) return u.bytes;
  }
  return 0;
}

constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
constexpr size_t kGiB = 3;

std::string text_of(double value, int digits, size_t unit) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, kUnits[unit]);
  return text.data();
}

// text(value, unit) in the first unit of which there are fewer than `most`.
template <class Text>
std::string in_units(int64_t bytes, double most, const Text& text) {
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(value) >= (unit == 0 ? 1024.0 : most) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return text(value, unit);
}

}  // namespace

std::string bytes_text(int64_t bytes) {
  // 1023.95 would print as "1024.0": the next unit starts there.
  return in_units(bytes, 1023.95,
                  [](double value, size_t unit) { return text_of(value, unit == 0 ? 0 : 1, unit); });
}

std::string bytes_text_up(int64_t bytes) {
  return in_units(bytes, 1023.9, [](double value, size_t unit) {
    const int digits = unit == 0 ? 0 : unit < kGiB ? 1 : 3;
    const double scale = std::pow(10.0, digits);
    return text_of(std::ceil(value * scale) / scale, digits, unit);
  });
}

int64_t parse_bytes(std::string_view text, int64_t whole) {
  const std::string copy(text);
  char* end = nullptr;
  const double number = std::strtod(copy.c_str(), &end);
  std::string unit;
  for (; *end != 0; ++end) {
    if (*end != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*end)));
  }
  const bool percent = unit == "%";
  const double bytes = percent ? number / 100 * static_cast<double>(whole) : number * unit_bytes(unit);
  const bool hexadecimal = copy.find_first_of("xX") != std::string::npos;
  const bool sound = !copy.empty() && !hexadecimal &&
                     std::isdigit(static_cast<unsigned char>(copy[0])) != 0 && std::isfinite(bytes) &&
                     bytes >= 1 && bytes < 0x1p62 && (!percent || number <= 100);
  require(sound, "memory", "expected a size such as 4GiB, 300MB or 60%, got '", text, "'");
  return static_cast<int64_t>(bytes);
}

}  // namespace plimsoll

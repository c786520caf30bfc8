#include "train/callbacks/python_format.h"

#include <cmath>
#include <cstdio>

#include "common/names.h"
#include "plimsoll/error.h"
#include "train/callbacks/monitor.h"

namespace plimsoll {
namespace {

constexpr int kMostDigits = 40;

// [0][width][.precision][d|f|e|g]
std::string formatted(double value, std::string_view spec, std::string_view field) {
  size_t at = 0;
  const auto digits = [&] {
    int n = 0;
    while (at < spec.size() && spec[at] >= '0' && spec[at] <= '9' && n <= kMostDigits)
      n = n * 10 + (spec[at++] - '0');
    return n;
  };
  const bool zeros = !spec.empty() && spec[0] == '0';
  const int width = digits();
  const bool exact = at < spec.size() && spec[at] == '.';
  if (exact) ++at;
  const int precision = exact ? digits() : 6;
  const char kind = at < spec.size() ? spec[at++] : (std::floor(value) == value && !exact ? 'd' : 'g');
  require(at == spec.size() && width <= kMostDigits && precision <= kMostDigits &&
              (kind == 'd' || kind == 'f' || kind == 'e' || kind == 'g'),
          "filepath", "cannot format {", field, "}");
  char text[400];
  if (kind == 'd') {
    std::snprintf(text, sizeof text, zeros ? "%0*lld" : "%*lld", width, static_cast<long long>(value));
  } else {
    const bool fixed = kind == 'f', small = kind == 'e';
    std::snprintf(text, sizeof text,
                  zeros ? (fixed   ? "%0*.*f"
                           : small ? "%0*.*e"
                                   : "%0*.*g")
                        : (fixed   ? "%*.*f"
                           : small ? "%*.*e"
                                   : "%*.*g"),
                  width, precision, value);
  }
  return text;
}

}  // namespace

std::string python_format(std::string_view text, const Logs& values) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[i];
    if ((text[i] == '{' || text[i] == '}') && doubled) {
      result += text[i++];
      continue;
    }
    if (text[i] != '{') {
      result += text[i];
      continue;
    }
    const size_t end = text.find('}', i);
    require(end != std::string_view::npos, "filepath", "a { without } in '", text, "'");
    const std::string_view field = text.substr(i + 1, end - i - 1);
    const std::string_view name = field.substr(0, field.find(':'));
    const double* value = find_log(values, name);
    require(value != nullptr, "filepath", "there is no '", name, "' for '", text,
            "'; there are: ", nearest_first(name, log_names(values)));
    result += formatted(
        *value, name.size() == field.size() ? std::string_view() : field.substr(name.size() + 1), field);
    i = end;
  }
  return result;
}

}  // namespace plimsoll

// Error is the one exception Plimsoll throws. Its message starts with the place, and says what was
// expected and what came:  [conv2d] expected a 4-D input (NHWC), got shape (32, 10)
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

#include "plimsoll/dtype.h"

#pragma GCC visibility push(default)
namespace plimsoll {

enum class ErrorKind {
  invalid_argument,
  not_found,
  unsupported,
  bad_file,
  io,
  out_of_memory,
  device,
  internal,
};
std::string_view name_of(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view place, std::string_view message);
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

namespace detail {
inline void append(std::string& s, std::string_view part) { s += part; }
inline void append(std::string& s, DType part) { s += name_of(part); }
template <class T>
requires std::integral<T> || std::floating_point<T>
void append(std::string& s, T part) {
  if constexpr (std::same_as<T, bool>)
    s += part ? "true" : "false";
  else if constexpr (std::same_as<T, char>)
    s += part;
  else
    s += std::to_string(part);
}
template <class T>
requires requires(const T& t) {
  { t.str() } -> std::convertible_to<std::string>;
}
void append(std::string& s, const T& part) { s += part.str(); }
}  // namespace detail

// The parts, one after the other: strings, numbers, DType, and anything with str().
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::string s;
  (detail::append(s, parts), ...);
  return s;
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, std::string_view place, const Parts&... parts) {
  throw Error(kind, place, concat(parts...));
}

// Throws Error{invalid_argument} unless `ok`; the message is built only then.
template <class... Parts>
void require(bool ok, std::string_view place, const Parts&... parts) {
  if (!ok) [[unlikely]]
    fail(ErrorKind::invalid_argument, place, parts...);
}

}  // namespace plimsoll
#pragma GCC visibility pop

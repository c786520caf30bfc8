// How our own code logs: warn("model.keras", "the optimizer's state is left out: expected ", n, " values, got
// ", m). Never throws: what cannot be said, for want of memory, is not said.
#pragma once

#include "plimsoll/error.h"
#include "plimsoll/log.h"

namespace plimsoll {

void write_log(LogLevel level, std::string_view place, std::string_view message) noexcept;

// The parts are those of concat(); they are put together only if someone listens.
template <class... Parts>
void log(LogLevel level, std::string_view place, const Parts&... parts) noexcept {
  if (level > log_level()) return;
  try {
    write_log(level, place, concat(parts...));
  } catch (...) {
    write_log(level, place, "(no memory for the message)");
  }
}

template <class... Parts>
void warn(std::string_view place, const Parts&... parts) noexcept {
  log(LogLevel::warning, place, parts...);
}

}  // namespace plimsoll

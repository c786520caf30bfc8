// What Plimsoll has to say beside results and errors: a stored optimizer state that was left out, a setting
// that cannot be kept. Nothing is said twice: what is thrown as an Error is not logged. By default warnings
// go to the standard error; PLIMSOLL_LOG=off, warning, info or debug says from which level on. All functions
// may be called from any thread at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#pragma GCC visibility push(default)
namespace plimsoll {

enum class LogLevel : uint8_t { off, warning, info, debug };
std::string_view name_of(LogLevel level);

// Takes what is logged, one call per message: where it comes from ("model.keras") and what it says. May be
// called from several threads at once; what it throws is dropped.
using LogSink = std::function<void(LogLevel level, std::string_view place, std::string_view message)>;

// An empty sink: the standard error again. A call of the old sink that has begun may end after this has
// returned.
void set_log_sink(LogSink sink);
// Instead of PLIMSOLL_LOG.
void set_log_level(LogLevel level) noexcept;
LogLevel log_level() noexcept;

}  // namespace plimsoll
#pragma GCC visibility pop

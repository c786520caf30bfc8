#include "common/log.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "common/fork.h"

namespace plimsoll {
namespace {

constexpr LogLevel kLevels[] = {LogLevel::off, LogLevel::warning, LogLevel::info, LogLevel::debug};

// One call of stdio per message, so that lines of several threads do not mix.
void to_standard_error(LogLevel level, std::string_view place, std::string_view message) noexcept {
  const std::string_view name = name_of(level);
  std::fprintf(stderr, "plimsoll %.*s: [%.*s] %.*s\n", static_cast<int>(name.size()), name.data(),
               static_cast<int>(place.size()), place.data(), static_cast<int>(message.size()),
               message.data());
}

LogLevel level_from_environment() noexcept {
  const char* set = std::getenv("PLIMSOLL_LOG");
  if (set == nullptr || *set == '\0') return LogLevel::warning;
  for (const LogLevel level : kLevels) {
    if (set == name_of(level)) return level;
  }
  to_standard_error(LogLevel::warning, "PLIMSOLL_LOG",
                    "expected off, warning, info or debug; taken as warning");
  return LogLevel::warning;
}

std::atomic<LogLevel>& level_now() noexcept {
  static std::atomic<LogLevel> level{level_from_environment()};
  return level;
}

ForkMutex& sink_mutex() noexcept {
  static ForkMutex mutex(LockOrder::log);
  return mutex;
}
// Never destroyed: a thread may log while the program ends.
std::shared_ptr<const LogSink>& sink_now() noexcept {
  alignas(std::shared_ptr<const LogSink>) static unsigned char place[sizeof(std::shared_ptr<const LogSink>)];
  static auto* sink = new (place) std::shared_ptr<const LogSink>();
  return *sink;
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::off: return "off";
    case LogLevel::warning: return "warning";
    case LogLevel::info: return "info";
    case LogLevel::debug: return "debug";
  }
  return "unknown";
}

void set_log_sink(LogSink sink) {
  auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
  const std::lock_guard lock(sink_mutex());
  sink_now().swap(next);
}

void set_log_level(LogLevel level) noexcept { level_now().store(level, std::memory_order_relaxed); }
LogLevel log_level() noexcept { return level_now().load(std::memory_order_relaxed); }

void write_log(LogLevel level, std::string_view place, std::string_view message) noexcept {
  try {
    std::shared_ptr<const LogSink> sink;
    {
      const std::lock_guard lock(sink_mutex());
      sink = sink_now();
    }
    // Called without the lock: a sink may log, or set another.
    if (sink) return (*sink)(level, place, message);
  } catch (...) {
    return;
  }
  to_standard_error(level, place, message);
}

}  // namespace plimsoll

#include "memory/line.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "memory/account.h"
#include "memory/pool.h"
#include "memory/readings.h"
#include "memory/resident.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

constexpr std::string_view kVariable = "PLIMSOLL_MEMORY";

enum class Drawn { no, by_variable, by_call };
std::atomic<Drawn> who{Drawn::no};
std::atomic<int64_t> changes{0};
std::atomic<line::Pressure (*)()> given_pressure{nullptr};

// Of the last one drawn, and whether the account does not have it yet.
std::atomic<int64_t> wanted{account::kNoLimit};
std::atomic<bool> pending{false};
std::atomic<int> running{0};

void draw(int64_t bytes) {
  resident::settle();
  resident::forget_peak();
  wanted = bytes;
  pending = true;
  if (running == 0 || bytes >= account::limit()) line::apply();
  ++changes;
}

// The rest is for what the engine does not count, and for others.
int64_t safe_share(int64_t bytes) { return bytes / 10 * 9; }

int64_t less(int64_t limit, int64_t used) { return std::max<int64_t>(limit - used, 0); }

const char* variable() {
  const char* text = std::getenv(kVariable.data());
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// What each of the system's limits leaves.
std::vector<MemorySource> of_the_system() {
  std::vector<MemorySource> list;
  const auto add = [&](std::string name, int64_t bytes) { list.push_back({std::move(name), bytes}); };
  if (const auto group = readings::cgroup()) {
    if (const auto left = group->room())
      add(concat("control group (v", group->version, "), limit less what it uses"), *left);
  }
  const readings::Limits limits = readings::limits();
  const auto process = readings::process();
  if (limits.addresses)
    add("RLIMIT_AS, less addresses in use", less(*limits.addresses, process ? process->addresses : 0));
  if (limits.data)
    add("RLIMIT_DATA, less memory of no file", less(*limits.data, process ? process->anonymous : 0));
  if (const auto system = readings::system()) add("available memory of the machine", system->available);
  return list;
}

}  // namespace

namespace line {

void ensure() {
  if (who.load(std::memory_order_relaxed) != Drawn::no) return;
  const char* text = variable();
  if (text == nullptr) return;
  const int64_t bytes = parse_memory(text);
  Drawn none = Drawn::no;
  if (who.compare_exchange_strong(none, Drawn::by_variable)) draw(bytes);
}

void begin_steps() noexcept { ++running; }
void end_steps() noexcept {
  if (--running == 0) apply();
}
void apply() noexcept {
  if (pending.exchange(false)) account::set_limit(wanted);
}

bool drawn() noexcept { return who != Drawn::no && account::limit() != account::kNoLimit; }
int64_t version() noexcept { return changes; }

void measure(bool keep, int64_t untouched) {
  if (!drawn()) return;
  pool::trim();
  resident::settle(keep, untouched);
}

Pressure pressure() {
  if (const auto read = given_pressure.load()) return read();
  Pressure p;
  if (const auto group = readings::cgroup()) {
    p.room = group->room().value_or(p.room);
    p.limit = group->limit().value_or(0);
  }
  p.stalled = readings::memory_stalled().value_or(0);
  return p;
}

void set_pressure(Pressure (*read)()) noexcept { given_pressure = read; }
bool pressure_is_set() noexcept { return given_pressure != nullptr; }

int64_t room() {
  int64_t least = account::kNoLimit;
  for (const MemorySource& s : of_the_system()) least = std::min(least, safe_share(s.bytes));
  return least;
}

}  // namespace line

void set_memory_limit(int64_t bytes) {
  require(bytes > 0, "memory", "expected a line above 0 bytes, got ", bytes);
  who = Drawn::by_call;
  draw(bytes);
}

std::vector<MemorySource> memory_sources() {
  line::ensure();
  std::vector<MemorySource> list;
  const bool by_call = who == Drawn::by_call;
  list.push_back({"set_memory_limit()", by_call ? account::limit() : account::kNoLimit, by_call});
  const char* text = variable();
  list.push_back({std::string(kVariable), text ? parse_memory(text) : account::kNoLimit, !by_call && text});
  std::vector<MemorySource> system = of_the_system();
  for (MemorySource& s : system) s.bytes = safe_share(s.bytes) + account::used();
  const auto least = std::ranges::min_element(system, {}, &MemorySource::bytes);
  if (!by_call && text == nullptr && least != system.end()) least->decided = true;
  list.insert(list.end(), system.begin(), system.end());
  return list;
}

}  // namespace plimsoll

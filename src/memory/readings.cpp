// The part of the readings that is the same on every system: the parsers, and sums over control groups.
#include "memory/readings.h"

#include <algorithm>
#include <charconv>

namespace plimsoll::readings {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Cuts the text up to the next `separator` off and returns it.
std::string_view next_part(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return part;
}

bool list_contains(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    if (next_part(list, ',') == name) return true;
  }
  return false;
}

// mountinfo writes blanks in paths as \040.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3') {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

void take_least(std::optional<int64_t>& least, std::optional<int64_t> value) {
  if (value && (!least || *value < *least)) least = value;
}

}  // namespace

std::optional<int64_t> Cgroup::limit() const {
  std::optional<int64_t> least = inherited_limit;
  for (const CgroupLevel& level : levels) take_least(least, level.limit);
  return least;
}

std::optional<int64_t> Cgroup::room() const {
  std::optional<int64_t> least;
  const auto left = [](int64_t limit, const CgroupLevel& level) {
    return std::max<int64_t>(0, limit - std::max<int64_t>(0, level.used.value_or(0) - level.reclaimable));
  };
  for (const CgroupLevel& level : levels) {
    if (level.limit) take_least(least, left(*level.limit, level));
  }
  if (inherited_limit && !levels.empty()) take_least(least, left(*inherited_limit, levels.front()));
  return least;
}

namespace parse {

std::optional<int64_t> number(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> cgroup_limit(std::string_view text) {
  // v1 has no word for "none": it says the largest multiple of a page that fits 63 bits.
  constexpr int64_t kNone = int64_t{1} << 62;
  const std::optional<int64_t> value = number(text);
  return value && *value < kNone && *value >= 0 ? value : std::nullopt;
}

std::optional<double> cpu_max(std::string_view text) {
  text = trimmed(text);
  const std::optional<int64_t> quota = number(next_part(text, ' '));
  const std::optional<int64_t> period = number(text);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<int64_t> field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = next_part(text, '\n');
    if (line.substr(0, key.size()) != key) continue;
    line.remove_prefix(key.size());
    // The key must end here: "Swap" is not "SwapCached".
    if (line.empty() || (line[0] != ':' && kBlanks.find(line[0]) == std::string_view::npos)) continue;
    line = trimmed(line.substr(1));
    const bool kilo = line.size() > 3 && line.substr(line.size() - 3) == " kB";
    if (kilo) line.remove_suffix(3);
    const std::optional<int64_t> value = number(line);
    if (!value || (kilo && *value > INT64_MAX / 1024)) return std::nullopt;
    return kilo ? *value * 1024 : *value;
  }
  return std::nullopt;
}

std::optional<Process> status(std::string_view text) {
  const std::optional<int64_t> resident = field(text, "VmRSS");
  if (!resident) return std::nullopt;  // a kernel thread, or a process that has ended
  Process p;
  p.resident = *resident;
  p.anonymous = field(text, "RssAnon").value_or(0);
  p.peak_resident = std::max(field(text, "VmHWM").value_or(0), p.resident);
  p.swapped = field(text, "VmSwap").value_or(0);
  p.addresses = field(text, "VmSize").value_or(0);
  return p;
}

std::optional<double> stalled(std::string_view text) {
  constexpr std::string_view kKey = "full avg10=";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  double percent = 0;
  const char* first = text.data() + at + kKey.size();
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), percent);
  if (error != std::errc() || end == first) return std::nullopt;
  return percent;
}

std::optional<System> meminfo(std::string_view text) {
  const std::optional<int64_t> total = field(text, "MemTotal");
  if (!total) return std::nullopt;
  System s;
  s.total = *total;
  // Kernels before 3.14 have no MemAvailable.
  s.available = field(text, "MemAvailable")
                    .value_or(field(text, "MemFree").value_or(0) + field(text, "Cached").value_or(0));
  s.swap_total = field(text, "SwapTotal").value_or(0);
  s.swap_free = field(text, "SwapFree").value_or(0);
  return s;
}

std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller) {
  while (!text.empty()) {
    std::string_view line = next_part(text, '\n');
    const std::string_view id = next_part(line, ':');
    const std::string_view controllers = next_part(line, ':');
    const bool found =
        controller.empty() ? id == "0" && controllers.empty() : list_contains(controllers, controller);
    if (found && !line.empty()) return std::string(line);
  }
  return std::nullopt;
}

std::optional<Mount> cgroup_mount(std::string_view text, std::string_view controller) {
  while (!text.empty()) {
    // "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
    std::string_view line = next_part(text, '\n');
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view tail = line.substr(dash + 3);
    const std::string_view type = next_part(tail, ' ');
    next_part(tail, ' ');
    if (controller.empty() ? type != "cgroup2" : type != "cgroup" || !list_contains(tail, controller))
      continue;
    for (int skipped = 0; skipped < 3; ++skipped) next_part(line, ' ');
    Mount mount;
    mount.root = unescaped(next_part(line, ' '));
    mount.point = unescaped(next_part(line, ' '));
    return mount;
  }
  return std::nullopt;
}

std::string cgroup_folder(const Mount& mount, std::string_view path) {
  std::string_view below = path;
  if (mount.root != "/") {
    const bool inside = below.substr(0, mount.root.size()) == mount.root &&
                        (below.size() == mount.root.size() || below[mount.root.size()] == '/');
    below = inside ? below.substr(mount.root.size()) : std::string_view();
  }
  // "/../x": the process lies outside of what its cgroup namespace shows.
  if (below == "/" || below.substr(0, 3) == "/..") below = {};
  return mount.point + std::string(below);
}

}  // namespace parse
}  // namespace plimsoll::readings

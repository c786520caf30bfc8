#include "guard/cgroup_leaf.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "guard/files.h"
#include "memory/readings.h"

namespace plimsoll::guard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "plimsoll-";
constexpr int64_t kNear = 1024 * 1024;

bool put(const std::string& file, const std::string& text) {
  std::FILE* f = std::fopen(file.c_str(), "we");
  if (!f) return false;
  const bool ok = std::fputs(text.c_str(), f) >= 0;
  return std::fclose(f) == 0 && ok;
}

// Leaves of guards that were killed before they could clean up.
void remove_stale(const fs::path& parent) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0) continue;
    const pid_t owner = std::atoi(name.c_str() + std::char_traits<char>::length(kPrefix));
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

bool limit_v1(const std::string& folder, int64_t limit) {
  if (!put(folder + "/memory.limit_in_bytes", std::to_string(limit))) return false;
  // Memory and swap together; absent where swap is not accounted.
  put(folder + "/memory.memsw.limit_in_bytes", std::to_string(limit));
  return true;
}

bool limit_v2(const std::string& folder, int64_t limit) {
  if (!put(folder + "/memory.max", std::to_string(limit))) return false;
  put(folder + "/memory.swap.max", "0");
  return true;
}

}  // namespace

std::optional<CgroupLeaf> CgroupLeaf::make(int64_t limit, const std::string& name) {
  const auto group = readings::cgroup();
  if (!group || group->levels.empty()) return std::nullopt;
  const fs::path own = group->levels.front().folder;
  // In v2 a group with processes cannot hand its controllers down, so the leaf goes beside the guard's.
  const fs::path parent = group->version == 2 && group->levels.size() > 1 ? own.parent_path() : own;
  remove_stale(parent);
  CgroupLeaf leaf;
  leaf.version_ = group->version;
  leaf.limit_ = limit;
  const fs::path folder = parent / (kPrefix + name);
  if (::mkdir(folder.c_str(), 0755) != 0) return std::nullopt;
  leaf.folder_ = folder.string();
  if (group->version == 2 && !fs::exists(folder / "memory.max"))
    put((parent / "cgroup.subtree_control").string(), "+memory");
  const bool ok = group->version == 2 ? limit_v2(leaf.folder_, limit) : limit_v1(leaf.folder_, limit);
  if (!ok) return std::nullopt;
  return leaf;
}

CgroupLeaf::~CgroupLeaf() {
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

CgroupLeaf& CgroupLeaf::operator=(CgroupLeaf&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(version_, other.version_);
  std::swap(limit_, other.limit_);
  return *this;
}

void CgroupLeaf::begin() {
  if (version_ == 1) put(folder_ + "/memory.max_usage_in_bytes", "0");
}

CgroupLeaf::Counters CgroupLeaf::counters() const {
  using readings::parse::field;
  Counters c;
  if (version_ == 2) {
    const std::string events = read_file(folder_ + "/memory.events").value_or("");
    c.oom_kills = field(events, "oom_kill").value_or(0);
    c.limit_hits = field(events, "oom").value_or(0);
  } else if (version_ == 1) {
    c.oom_kills = field(read_file(folder_ + "/memory.oom_control").value_or(""), "oom_kill").value_or(0);
    // Newer kernels no longer count failures here, but the peak tells as well.
    const auto peak = readings::parse::number(read_file(folder_ + "/memory.max_usage_in_bytes").value_or(""));
    c.limit_hits = peak && *peak + kNear >= limit_ ? 1 : 0;
  }
  return c;
}

}  // namespace plimsoll::guard

// A control group of its own for the kernel, as hard backstop above the line: v2, or v1 where memory is
// governed by that. The guard stays outside. Where none can be made there is none, and the guard says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plimsoll::guard {

class CgroupLeaf {
 public:
  CgroupLeaf() = default;
  // A leaf with a hard limit, beside or below the guard's own group. Nothing if not permitted.
  static std::optional<CgroupLeaf> make(int64_t limit, const std::string& name);
  ~CgroupLeaf();
  CgroupLeaf(CgroupLeaf&& other) noexcept { *this = static_cast<CgroupLeaf&&>(other); }
  CgroupLeaf& operator=(CgroupLeaf&& other) noexcept;

  int64_t limit() const { return limit_; }
  const std::string& folder() const { return folder_; }
  std::string procs_file() const { return folder_ + "/cgroup.procs"; }

  struct Counters {
    int64_t oom_kills = 0;   // processes of the leaf killed by any out-of-memory killer
    int64_t limit_hits = 0;  // times the leaf's own limit was met; v1: 1 if it was since begin()
  };
  // A new process is about to be put inside.
  void begin();
  Counters counters() const;

 private:
  std::string folder_;
  int version_ = 0;
  int64_t limit_ = 0;
};

}  // namespace plimsoll::guard

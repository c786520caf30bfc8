// Which of a library's ways to do the same is the fastest: they are timed in the first run of a program, on
// the buffers that it has anyway, until a device has spent its seconds on that. What was found is kept in a
// file of the user's cache, one for each kind of GPU, driver and library.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "api.h"

namespace plimsoll::cuda {

class Tuning {
 public:
  // An empty path: nothing is kept. Lines of a file that are not ours are passed over.
  explicit Tuning(std::string path = "");

  // The way that `key` is done, if that is known and one of `count`.
  std::optional<size_t> known(const std::string& key, size_t count);
  // Times run(0), run(1), ... on the stream and remembers the best. The first, which the library thinks best,
  // wins unless another is clearly faster, or if all seconds are spent.
  size_t choose(const std::string& key, size_t count, CUstream stream,
                const std::function<void(size_t)>& run);
  bool has_time();

 private:
  void read();
  void keep(const std::string& key, size_t choice);

  std::mutex mutex_;
  const std::string path_;
  std::unordered_map<std::string, size_t> found_;
  double seconds_ = 0;
};

// $XDG_CACHE_HOME/plimsoll/<name>, or under ~/.cache; empty if there is no home.
std::string cache_path(const std::string& name);

}  // namespace plimsoll::cuda

// Questions about files that have no exception for an answer: what cannot be seen is not there.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace plimsoll::doctor {

inline bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}
inline bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}
// A folder that is there, and that this user has no right to look into.
inline bool may_not_enter(const std::filesystem::path& folder) {
  return is_folder(folder) && ::access(folder.c_str(), R_OK | X_OK) != 0;
}
// With all links followed; empty if it is not there.
inline std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path result = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : result;
}
// What a folder holds, sorted; nothing if it cannot be read.
inline std::vector<std::filesystem::path> list_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    all.push_back(it->path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace plimsoll::doctor

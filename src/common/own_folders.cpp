#include "common/own_folders.h"

#include <dlfcn.h>

namespace plimsoll {

std::vector<std::filesystem::path> own_folders() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> files{fs::read_symlink("/proc/self/exe", ignored)};
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folders), &library) != 0 && library.dli_fname != nullptr)
    files.emplace_back(library.dli_fname);
  for (fs::path& file : files) file = file.parent_path();
  return files;
}

}  // namespace plimsoll

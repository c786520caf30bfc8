// A folder of mode 0700 that lasts as long as its owner: sockets, connection file and gate page of one guard.
#pragma once

#include <filesystem>

namespace plimsoll::guard {

class PrivateFolder {
 public:
  // In $XDG_RUNTIME_DIR or the folder for temporary files; kept short, for the path of a socket is
  // limited to some hundred bytes. Removes the folders of guards that were killed. Throws Error{io}.
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  // Makes it again if somebody has removed it, as cleaners of temporary files do. Throws Error{io}.
  void restore();

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // held as long as the folder is in use
};

}  // namespace plimsoll::guard

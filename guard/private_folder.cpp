#include "guard/private_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "guard/files.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {
constexpr size_t kLongestBase = 60;
}

PrivateFolder::PrivateFolder() {
  std::string error;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR", ""}) {
    const std::string base = *variable ? environment(variable).value_or("") : "/tmp";
    if (base.empty() || base.size() > kLongestBase) continue;
    std::string name = base + "/plimsoll-XXXXXX";
    if (::mkdtemp(name.data())) {
      path_ = name;
      return;
    }
    error = concat(name, ": ", std::strerror(errno));
  }
  fail(ErrorKind::io, "guard", "cannot make a folder for sockets: ", error);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace plimsoll::guard

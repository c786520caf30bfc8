#include "outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "plimsoll/error.h"

namespace plimsoll::cli {

void check_writable(const std::string& option, const std::string& file,
                    std::initializer_list<std::string_view> suffixes) {
  if (file.empty()) return;
  const bool known =
      std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view s) { return file.ends_with(s); });
  require(known, option, "expected a name that ends in ", fmt::format("{}", fmt::join(suffixes, " or ")),
          ", got '", file, "'");
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    fail(ErrorKind::not_found, option, "there is no folder ", folder.string(),
         "; make it first, or name another");
  }
}

}  // namespace plimsoll::cli

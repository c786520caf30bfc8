#include "python_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "plimsoll/error.h"

namespace plimsoll::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHasPackage =
    "import importlib.util, sys; sys.exit(importlib.util.find_spec('plimsoll') is None)";

std::vector<char*> arguments(std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

bool has_package(const fs::path& python) {
  std::vector<std::string> words = {python.string(), "-c", kHasPackage};
  const std::vector<char*> argv = arguments(words);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return false;
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void add_folder(std::vector<fs::path>& list, const fs::path& folder) {
  for (const char* name : {"python3", "python"}) {
    if (::access((folder / name).c_str(), X_OK) == 0) {
      list.push_back(folder / name);
      return;
    }
  }
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> list;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string prefix = variable(name); !prefix.empty())
      add_folder(list, fs::path(prefix) / "bin");
  }
  std::error_code ignored;
  add_folder(list, fs::read_symlink("/proc/self/exe", ignored).parent_path());
  std::string path = variable("PATH");
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    if (end > start) add_folder(list, path.substr(start, end - start));
    start = end + 1;
  }
  return list;
}

}  // namespace

fs::path find_python(const std::string& given) {
  if (!given.empty()) {
    require(has_package(given), "python", "expected an interpreter with the package plimsoll, got ",
            given, "; install it there: ", given, " -m pip install plimsoll");
    return given;
  }
  std::string tried;
  for (const fs::path& python : candidates()) {
    if (has_package(python)) return python;
    tried += (tried.empty() ? "" : ", ") + python.string();
  }
  fail(ErrorKind::not_found, "python", "expected an interpreter with the package plimsoll, got ",
       tried.empty() ? "none on PATH" : tried, "; pip install plimsoll, or name one with --python");
}

void become_python(const std::string& given, const std::string& module,
                   const std::vector<std::string>& words) {
  const fs::path python = find_python(given);
  std::vector<std::string> all = {python.string(), "-m", module};
  all.insert(all.end(), words.begin(), words.end());
  const std::vector<char*> argv = arguments(all);
  ::execvp(python.c_str(), argv.data());
  fail(ErrorKind::not_found, "python", "cannot start ", python.string(), ": ", std::strerror(errno));
}

}  // namespace plimsoll::cli

// plimsoll: the command line. Each subcommand is a file of its own, see command.h.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "command.h"
#include "common/names.h"
#include "plimsoll/error.h"

namespace {

constexpr int kFailed = 1, kNotUnderstood = 2, kNoMemory = 3;

// For a word that is no subcommand, or an option that the subcommand has not: those most like it.
void suggest(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string first = argv[1];
  if (std::find(names.begin(), names.end(), first) == names.end()) {
    if (!first.starts_with('-'))
      std::fprintf(stderr, "There is no '%s'; there are: %s\n", argv[1],
                   plimsoll::nearest_first(first, std::move(names)).c_str());
    return;
  }
  names.clear();
  for (const CLI::Option* option : app.get_subcommand(first)->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || word == "--" || std::find(names.begin(), names.end(), word) != names.end())
      continue;
    std::fprintf(stderr, "There is no '%s'; there are: %s\n", word.c_str(),
                 plimsoll::nearest_first(word, names).c_str());
    return;
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Trains Keras models under a memory line; guards Jupyter kernels; finds what would crash."};
  app.name("plimsoll");
  app.set_version_flag("--version", PLIMSOLL_VERSION);
  app.require_subcommand(1);
  app.footer(std::string("Ends with ") + plimsoll::cli::kExitStatus);
  for (auto command : plimsoll::cli::commands()) command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();
  } catch (const CLI::ParseError& e) {
    const int status = app.exit(e);
    if (status != 0) suggest(app, argc, argv);
    return status == 0 ? 0 : kNotUnderstood;
  }
  return 0;
}

// A file that is opened where a standard descriptor was closed would get what is printed.
void fill_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

int flush(int status) {
  if (std::fflush(stdout) == 0 || status != 0) return status;
  std::fprintf(stderr, "plimsoll: what it printed could not be written: %s\n", std::strerror(errno));
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_descriptors();
  // A file beyond the limit on sizes is then an error to tell, not the end. A handler, for child processes
  // inherit SIG_IGN.
  ::signal(SIGXFSZ, [](int) {});
  try {
    return flush(run(argc, argv));
  } catch (const plimsoll::Error& e) {
    std::fprintf(stderr, "plimsoll: %s\n", e.what());
    return e.kind() == plimsoll::ErrorKind::out_of_memory ? kNoMemory : kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "plimsoll: %s\n", e.what());
    return kFailed;
  }
}

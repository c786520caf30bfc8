// plimsoll: the command line. Each subcommand is a file of its own, see command.h.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "command.h"
#include "plimsoll/error.h"

namespace {

constexpr int kFailed = 1, kNotUnderstood = 2, kNoMemory = 3;

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
    return app.exit(e) == 0 ? 0 : kNotUnderstood;
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

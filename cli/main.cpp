// plimsoll: the command line. Each subcommand is a file of its own, see command.h.
#include <cstdio>
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

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const plimsoll::Error& e) {
    std::fprintf(stderr, "plimsoll: %s\n", e.what());
    return e.kind() == plimsoll::ErrorKind::out_of_memory ? kNoMemory : kFailed;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "plimsoll: %s\n", e.what());
    return kFailed;
  }
}

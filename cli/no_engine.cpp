// The subcommands that need the engine, in a program that was built without it (make guard).
#include <fmt/format.h>

#include "command.h"
#include "plimsoll/error.h"

void no_engine(CLI::App& app) {
  for (const char* name : {PLIMSOLL_ENGINE_COMMANDS}) {
    CLI::App* command =
        app.add_subcommand(name, "Needs the engine, which is not in this program: see make build");
    command->prefix_command();
    command->set_help_flag();
    command->callback([name] {
      plimsoll::fail(plimsoll::ErrorKind::unsupported, name,
                     "expected a program with the engine, got plimsoll ", PLIMSOLL_VERSION,
                     " with guard and doctor only; `make build` builds the whole one, build/bin/plimsoll");
    });
  }
}

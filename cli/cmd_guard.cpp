// plimsoll guard: hands over to plimsoll-guard, a program of its own, so that the process that watches
// a kernel for days links neither the engine nor its libraries.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "command.h"
#include "guard/files.h"
#include "plimsoll/error.h"

void cmd_guard(CLI::App& app) {
  auto* command = app.add_subcommand(
      "guard", "Run a script or a Jupyter kernel under guard: plimsoll guard [options] -- command …");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command] {
    const std::string program = (plimsoll::guard::program_folder() / "plimsoll-guard").string();
    std::vector<std::string> words = command->remaining();
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    plimsoll::fail(plimsoll::ErrorKind::not_found, "guard", "cannot start ", program, ": ",
                   std::strerror(errno));
  });
}

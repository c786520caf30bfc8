// plimsoll check: what a script uses of TensorFlow that plimsoll run does not have, by python -m
// plimsoll.check.
#include "command.h"
#include "python_program.h"

void cmd_check(CLI::App& app) {
  auto python = std::make_shared<std::string>();
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand(
      "check", "List what scripts use of TensorFlow that Plimsoll does not cover, without running them");
  command->add_option("--python", *python,
                      "The interpreter (default: of the active virtual environment, else of PATH)");
  command->add_option("files", *files, "Files .py or .ipynb")->required();
  command->footer(
      "Example:\n  plimsoll check train.py notebook.ipynb\nEnds with 0: all is covered; 1: names are not; 2: "
      "a file could not be read.");
  command->callback([python, files] { plimsoll::cli::become_python(*python, "plimsoll.check", *files); });
}

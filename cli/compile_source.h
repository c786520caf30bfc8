// What a model is trained or measured with: the options of the command line over what its file says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "plimsoll/model.h"

namespace plimsoll::cli {

struct CompileOptions {
  std::vector<std::string> loss, metrics;
  std::string optimizer;
  double learning_rate = 0;
  int threads = 0;
  std::string device;
};

// --loss and its relatives; those of the optimizer only where the command trains.
void add_compile_options(CLI::App& command, CompileOptions& options, bool trains);
// What is not given stays as the file has it, the optimizer's state too unless --loss, --metrics or
// --optimizer change what is compiled. Throws Error{invalid_argument} naming the option that is missing.
void compile(Model& model, const CompileOptions& options);

}  // namespace plimsoll::cli

// plimsoll kernel install | list | remove: guarded twins of Jupyter kernels.
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "guard/files.h"
#include "guard/kernelspec.h"
#include "plimsoll/error.h"

namespace {

using namespace plimsoll::guard;

std::vector<std::filesystem::path> folders_with(const std::filesystem::path& prefix) {
  auto folders = kernel_folders();
  if (!prefix.empty()) folders.insert(folders.begin(), prefix / "share/jupyter/kernels");
  return folders;
}

// Those of `plimsoll guard`, as words for kernel.json.
void add_guards_options(CLI::App& command, std::vector<std::string>& words) {
  const auto option = [&](const char* name, const char* help) {
    command.add_option_function<std::string>(
        name,
        [&words, name](const std::string& value) {
          words.insert(words.end(), {name, value});
        },
        help);
  };
  option("--memory", "The memory line, such as 4GiB or 60%");
  option("--stall-notice", "Say so after so many seconds without a sign of life (default: 30)");
  option("--stall-timeout", "Interrupt a cell after so many seconds without progress (default: never)");
  option("--transport", "How to reach the kernel: ipc or tcp");
  for (const char* name : {"--no-gate", "--no-cgroup"}) {
    command.add_flag_callback(
        name, [&words, name] { words.push_back(name); },
        name == std::string_view("--no-gate") ? "Do not preload the allocation gate"
                                              : "Do not make a cgroup");
  }
}

void add_install(CLI::App& app) {
  auto* command = app.add_subcommand("install", "Install a guarded twin of a kernel.");
  auto options = std::make_shared<InstallOptions>();
  auto user = std::make_shared<bool>(false);
  command->add_option("--of", options->of, "The kernel to guard")->capture_default_str();
  command->add_option("--name", options->name, "Name of the twin (default: <of>-guarded)");
  add_guards_options(*command, options->words);
  auto* flag = command->add_flag("--user", *user, "Into the user's folder (default)");
  command->add_option("--prefix", options->prefix, "Into <prefix>/share/jupyter")->excludes(flag);
  command->callback([options, user] {
    options->guard = program_folder() / "plimsoll-guard";
    const auto folder = install_kernelspec(*options, folders_with(options->prefix));
    fmt::print("Installed {} in {}\n", folder.filename().string(), folder.string());
  });
}

void add_list(CLI::App& app) {
  auto* command = app.add_subcommand("list", "List the kernels Jupyter finds, and which are guarded.");
  command->callback([] {
    for (const auto& spec : list_kernelspecs(kernel_folders())) {
      const auto guards = spec.guards();
      fmt::print("{:<24} {:<28} {}\n", spec.name, guards ? "guards " + *guards : "", spec.folder.string());
    }
  });
}

void add_remove(CLI::App& app) {
  auto* command = app.add_subcommand("remove", "Remove a guarded kernel.");
  auto name = std::make_shared<std::string>();
  auto prefix = std::make_shared<std::filesystem::path>();
  command->add_option("name", *name, "Name of the guarded kernel")->required();
  command->add_option("--prefix", *prefix, "From <prefix>/share/jupyter");
  command->callback([name, prefix] {
    fmt::print("Removed {}\n", remove_kernelspec(*name, folders_with(*prefix)).string());
  });
}

}  // namespace

void cmd_kernel(CLI::App& app) {
  auto* command = app.add_subcommand("kernel", "Guarded twins of Jupyter kernels: install, list, remove.");
  command->require_subcommand(1);
  add_install(*command);
  add_list(*command);
  add_remove(*command);
}

// plimsoll version: this program's, and of what it stands on.
#include <fmt/format.h>

#include "command.h"
#include "plimsoll/devices.h"

namespace {

void run() {
  fmt::print("plimsoll {}\n", PLIMSOLL_VERSION);
  for (const plimsoll::DeviceInfo& device : plimsoll::devices())
    fmt::print("{}: {}\n", device.name, device.description);
}

}  // namespace

void cmd_version(CLI::App& app) {
  app.add_subcommand("version", "Say which version this is and what it runs on")->callback(run);
}

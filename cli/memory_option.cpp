#include "memory_option.h"

#include <algorithm>

#include "plimsoll/memory.h"

namespace plimsoll::cli {

void add_memory_option(CLI::App& command, std::string& memory) {
  command.add_option("--memory", memory,
                     "The line, of the whole process: 2GiB, 60%; of a device: cuda:0=4GiB. A run that cannot "
                     "fit is refused before it starts");
}

std::string draw_line(const std::string& memory) {
  count_whole_process();
  std::string devices;
  for (std::string_view rest = memory; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (one.find('=') == std::string_view::npos) {
      set_memory_limit(parse_memory(one));
    } else {
      devices.append(devices.empty() ? "" : ",").append(one);
    }
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  const MemoryUse use = memory_use();
  if (use.engine > use.limit) {
    throw MemoryLineError("--memory",
                          "the program itself takes " + memory_text(use.engine) +
                              " before anything is loaded, allowed are " + memory_text(use.limit),
                          {.line = use.limit, .need = use.engine, .least = use.engine});
  }
  return devices;
}

}  // namespace plimsoll::cli

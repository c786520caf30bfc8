#include "guard/options.h"

#include <cstdlib>

#include "plimsoll/error.h"

namespace plimsoll::guard {

const char* usage() {
  return "usage: plimsoll guard [options] -- command …\n"
         "\n"
         "Runs a script, or with -f a Jupyter kernel, under a memory line and explains its death.\n"
         "  -f FILE                connection file: guard a Jupyter kernel\n"
         "  --memory SIZE          the memory line, such as 4GiB or 60%\n"
         "  --stall-notice S       say so after S seconds without a sign of life (default 30)\n"
         "  --stall-timeout S      interrupt after S seconds without progress (default: never)\n"
         "  --name NAME            name of the kernel, for reports\n"
         "  --language LANGUAGE    its language\n"
         "  --transport ipc|tcp    how to reach the kernel\n"
         "  --no-gate              do not preload the allocation gate\n"
         "  --no-cgroup            do not make a cgroup\n";
}

namespace {

double seconds(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  require(!text.empty() && *end == '\0' && value >= 0 && value < 1e9, "guard", "expected seconds after ",
          option, ", got '", text, "'");
  return value;
}

}  // namespace

GuardOptions parse_options(const std::vector<std::string>& words) {
  GuardOptions options;
  size_t i = 0;
  auto value = [&]() -> const std::string& {
    require(i + 1 < words.size(), "guard", "expected a value after ", words[i]);
    return words[++i];
  };
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      ++i;
      break;
    }
    if (word.empty() || word[0] != '-') break;
    if (word == "-h" || word == "--help") return {};
    if (word == "-f")
      options.connection_file = value();
    else if (word == "--memory")
      options.memory = value();
    else if (word == "--stall-notice")
      options.stall_notice = seconds(word, value());
    else if (word == "--stall-timeout")
      options.stall_timeout = seconds(word, value());
    else if (word == "--name")
      options.name = value();
    else if (word == "--language")
      options.language = value();
    else if (word == "--transport")
      options.transport = value();
    else if (word == "--no-gate")
      options.gate = false;
    else if (word == "--no-cgroup")
      options.cgroup = false;
    else
      fail(ErrorKind::invalid_argument, "guard", "unknown option ", word, "\n", usage());
  }
  require(options.transport.empty() || options.transport == "ipc" || options.transport == "tcp", "guard",
          "expected --transport ipc or tcp, got ", options.transport);
  options.command.assign(words.begin() + static_cast<ptrdiff_t>(i), words.end());
  require(!options.command.empty(), "guard", "expected a command to run\n", usage());
  return options;
}

}  // namespace plimsoll::guard

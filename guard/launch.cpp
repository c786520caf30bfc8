#include "guard/launch.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "guard/files.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

namespace {

constexpr std::string_view kNoCapture = "--IPKernelApp.capture_fd_output=False";

bool mentions(const std::vector<std::string>& argv, std::string_view what) {
  return std::any_of(argv.begin(), argv.end(), [&](auto& a) { return a.find(what) != std::string::npos; });
}

// A TCP port nobody listens on. The socket stays open until all five are found, so that they differ.
std::array<int, 5> free_ports() {
  std::array<int, 5> ports{}, sockets{};
  for (size_t i = 0; i < ports.size(); ++i) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    sockets[i] = ::socket(AF_INET, SOCK_STREAM, 0);
    if (sockets[i] < 0 || ::bind(sockets[i], reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      fail(ErrorKind::io, "guard", "cannot find a free port: ", std::strerror(errno));
    }
    ports[i] = ntohs(address.sin_port);
  }
  for (int s : sockets) ::close(s);
  return ports;
}

// Kernels known to bind ipc sockets as Jupyter spells them; others get TCP on the loopback.
bool speaks_ipc(const std::vector<std::string>& argv) {
  return is_ipykernel(argv) || mentions(argv, "xpython") || mentions(argv, "xeus");
}

}  // namespace

bool is_ipykernel(const std::vector<std::string>& argv) { return mentions(argv, "ipykernel"); }

Launch prepare_launch(const GuardOptions& options, const Connection& front,
                      const std::filesystem::path& folder, int generation) {
  Launch launch;
  launch.connection = front;
  const bool ipc = options.transport.empty() ? speaks_ipc(options.command) : options.transport == "ipc";
  if (ipc) {
    launch.connection.transport = "ipc";
    launch.connection.ip = (folder / concat("k", generation)).string();
    launch.connection.ports = {1, 2, 3, 4, 5};
  } else {
    launch.connection.transport = "tcp";
    launch.connection.ip = "127.0.0.1";
    launch.connection.ports = free_ports();
  }
  launch.connection_file = folder / concat("kernel-", generation, ".json");
  write_file(launch.connection_file, launch.connection.to_json().dump(1));

  // Jupyter has put the path of its own connection file into the command; the kernel gets the private one.
  const std::string given = options.connection_file.string();
  for (std::string word : options.command) {
    for (size_t at = 0; (at = word.find(given, at)) != std::string::npos;) {
      word.replace(at, given.size(), launch.connection_file.string());
      at += launch.connection_file.string().size();
    }
    launch.argv.push_back(std::move(word));
  }
  // With its own capture on, the text of a fatal error dies inside the kernel; the guard reads it from the
  // pipe.
  if (is_ipykernel(launch.argv)) launch.argv.emplace_back(kNoCapture);
  return launch;
}

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> all;
  auto name = [](const std::string& entry) { return entry.substr(0, entry.find('=') + 1); };
  for (char** entry = ::environ; *entry; ++entry) {
    const std::string text = *entry;
    const bool replaced =
        std::any_of(changes.begin(), changes.end(), [&](auto& c) { return name(c) == name(text); });
    if (!replaced) all.push_back(text);
  }
  all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

std::string python_setup_code() {
  // Without the capture its streams would have no descriptors, which programs hand to child processes.
  constexpr std::string_view kCode = R"(exec("""
import os, sys
from IPython import get_ipython
def guard(line):
    if line.strip() not in ('keep', 'forget'):
        print('usage: %guard keep (run this cell again in each new kernel) or %guard forget (none any more)')
if get_ipython():
    get_ipython().register_magic_function(guard, 'line', 'guard')
for number, stream in ((1, sys.stdout), (2, sys.stderr)):
    if getattr(stream, '_original_stdstream_copy', None) is None:
        stream._original_stdstream_copy = os.dup(number)
sys.argv = [word for word in sys.argv if word != NO_CAPTURE]
""", {'NO_CAPTURE': ')";
  return concat(kCode, kNoCapture, "'})");
}

}  // namespace plimsoll::guard

// Connection files: where a kernel's five sockets are and the key of its messages.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace plimsoll::guard {

enum class Channel { shell, control, stdin_, iopub, hb };
inline constexpr std::array<Channel, 5> kChannels = {Channel::shell, Channel::control, Channel::stdin_,
                                                     Channel::iopub, Channel::hb};
// "shell", "control", "stdin", "iopub", "hb".
const char* name_of(Channel channel);

struct Connection {
  std::string transport = "tcp";
  std::string ip = "127.0.0.1";  // for ipc: the first part of the sockets' paths
  std::array<int, 5> ports{};
  std::string key;
  std::string scheme = "hmac-sha256";
  std::string curve_public, curve_secret;  // Z85; empty: plain
  nlohmann::json all;                      // the file as it was

  // As ZeroMQ names it: tcp://ip:port or ipc://path-port.
  std::string endpoint(Channel channel) const;
  nlohmann::json to_json() const;
};

// Throws Error{bad_file} that says what is wrong, Error{io} if the file cannot be read, and
// Error{unsupported} for the handshake pattern (registration_port).
Connection read_connection(const std::filesystem::path& path);

}  // namespace plimsoll::guard

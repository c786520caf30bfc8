#include "guard/connection.h"

#include "guard/files.h"
#include "plimsoll/error.h"

namespace plimsoll::guard {

using nlohmann::json;

namespace {

template <class T>
T member(const json& j, const char* key, T fallback) {
  const auto found = j.find(key);
  if (found == j.end() || found->is_null()) return fallback;
  try {
    return found->get<T>();
  } catch (const json::exception&) {
    fail(ErrorKind::bad_file, "guard", "connection file: `", key, "` has the wrong type: ", found->dump());
  }
}

}  // namespace

const char* name_of(Channel channel) {
  constexpr const char* kNames[] = {"shell", "control", "stdin", "iopub", "hb"};
  return kNames[static_cast<int>(channel)];
}

std::string Connection::endpoint(Channel channel) const {
  const int port = ports[static_cast<size_t>(channel)];
  return transport == "ipc" ? concat("ipc://", ip, "-", port) : concat("tcp://", ip, ":", port);
}

json Connection::to_json() const {
  json j = all.is_object() ? all : json::object();
  j["transport"] = transport;
  j["ip"] = ip;
  j["key"] = key;
  j["signature_scheme"] = scheme;
  for (Channel c : kChannels) j[concat(name_of(c), "_port")] = ports[static_cast<size_t>(c)];
  for (const char* key : {"curve_publickey", "curve_secretkey"}) j.erase(key);
  return j;
}

Connection read_connection(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) fail(ErrorKind::io, "guard", "cannot read the connection file ", path.string());
  json j = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!j.is_object())
    fail(ErrorKind::bad_file, "guard", "connection file ", path.string(), " is not a JSON object");
  if (j.contains("registration_port")) {
    fail(ErrorKind::unsupported, "guard",
         "the connection file asks for the handshake pattern (registration_port), which the guard does not "
         "speak");
  }
  Connection c;
  c.transport = member<std::string>(j, "transport", c.transport);
  if (c.transport != "tcp" && c.transport != "ipc") {
    fail(ErrorKind::unsupported, "guard", "expected transport tcp or ipc, got ", c.transport);
  }
  c.ip = member<std::string>(j, "ip", c.ip);
  c.key = member<std::string>(j, "key", "");
  c.scheme = member<std::string>(j, "signature_scheme", c.scheme);
  c.curve_public = member<std::string>(j, "curve_publickey", "");
  c.curve_secret = member<std::string>(j, "curve_secretkey", "");
  for (Channel channel : kChannels) {
    const std::string key = concat(name_of(channel), "_port");
    const int port = member<int>(j, key.c_str(), 0);
    if (port <= 0 || port > 65535) {
      fail(ErrorKind::bad_file, "guard", "connection file: expected a port `", key, "` of 1 to 65535, got ",
           port);
    }
    c.ports[static_cast<size_t>(channel)] = port;
  }
  c.all = std::move(j);
  return c;
}

}  // namespace plimsoll::guard

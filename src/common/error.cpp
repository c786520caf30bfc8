#include "plimsoll/error.h"

namespace plimsoll {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::unsupported: return "unsupported";
    case ErrorKind::bad_file: return "bad_file";
    case ErrorKind::io: return "io";
    case ErrorKind::out_of_memory: return "out_of_memory";
    case ErrorKind::device: return "device";
    case ErrorKind::internal: return "internal";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string_view place, std::string_view message)
    : std::runtime_error(concat("[", place, "] ", message)), kind_(kind) {}

}  // namespace plimsoll

#include "train/lines.h"

#include <algorithm>
#include <string_view>

#include "common/bytes.h"
#include "device/device.h"
#include "plimsoll/devices.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

LineOf line_in(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {nullptr, parse_memory(text)};
  std::shared_ptr<Device> device = find_device(text.substr(0, equals));
  require(device != nullptr, "memory", "expected a line of the host without a name, got '", text, "'");
  const int64_t bytes = parse_bytes(text.substr(equals + 1), device->memory().total);
  return {std::move(device), bytes};
}

}  // namespace

std::vector<LineOf> lines_in(const std::string& memory) {
  std::vector<LineOf> lines;
  for (std::string_view rest = memory; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    lines.push_back(line_in(one));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return lines;
}

}  // namespace plimsoll

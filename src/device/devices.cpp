#include "plimsoll/devices.h"

#include "common/bytes.h"
#include "device/device.h"
#include "memory/account.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

std::vector<std::string> host_limits() {
  std::vector<std::string> found;
  if (account::limit() != account::kNoLimit)
    found.push_back(concat("the line is at ", bytes_text(account::limit())));
  if (const auto group = readings::cgroup(); group && group->limit()) {
    found.push_back(concat("the control group (v", group->version, ") allows ", bytes_text(*group->limit()),
                           ", ", bytes_text(group->room().value_or(0)), " are left"));
  }
  const readings::Limits limits = readings::limits();
  if (limits.addresses)
    found.push_back(concat("ulimit -v allows ", bytes_text(*limits.addresses), " of addresses"));
  if (limits.data) found.push_back(concat("ulimit -d allows ", bytes_text(*limits.data), " of data"));
  return found;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  const std::shared_ptr<Device> cpu = device_cpu();
  const DeviceMemory memory = cpu->memory();
  return {{std::string(cpu->name()), cpu->describe(), memory.total, memory.free, host_limits()}};
}

}  // namespace plimsoll

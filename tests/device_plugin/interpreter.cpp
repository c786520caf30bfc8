#include "device_plugin/interpreter.h"

#include <cstdio>
#include <cstdlib>

namespace plimsoll::testing {

std::shared_ptr<Device> open_interpreter(const std::string& options) {
  setenv("PLIMSOLL_INTERPRETER", options.c_str(), 1);
  std::shared_ptr<Device> device = load_device(INTERPRETER);
  EXPECT_EQ(counters(*device).copies_in, 0) << "somebody still has the device of a test before";
  return device;
}

bool tests_the_interpreter() { return std::getenv("PLIMSOLL_TEST_DEVICE") == nullptr; }

std::shared_ptr<Device> open_tested_device(const std::string& options) {
  return tests_the_interpreter() ? open_interpreter(options)
                                 : load_device(std::getenv("PLIMSOLL_TEST_DEVICE"));
}

CompileOptions on(std::shared_ptr<Device> device) {
  CompileOptions options;
  options.device = std::move(device);
  return options;
}

DeviceCounters counters(const Device& device) {
  long long n[6] = {-1, -1, -1, -1, -1, -1};
  const int read = std::sscanf(
      device.describe().c_str(),
      "interpreter: %lld copies to the device (%lld bytes), %lld back (%lld bytes), %lld runs, %lld", n,
      n + 1, n + 2, n + 3, n + 4, n + 5);
  EXPECT_EQ(read, 6) << device.describe();
  return {n[0], n[1], n[2], n[3], n[4], n[5]};
}

Error error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(ErrorKind::internal, "test", "nothing was thrown");
}

}  // namespace plimsoll::testing

// The plug-in of examples/device as tests load it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/device.h"
#include "plimsoll/error.h"
#include "plimsoll/program.h"

namespace plimsoll::testing {

// The device with these options (device.c says which there are). Nobody may have it at the moment: options
// are read when it is opened.
std::shared_ptr<Device> open_interpreter(const std::string& options = "");
// The device that sweep and random graphs run on: that of PLIMSOLL_TEST_DEVICE, else the interpreter.
std::shared_ptr<Device> open_tested_device(const std::string& options);
bool tests_the_interpreter();

CompileOptions on(std::shared_ptr<Device> device);

// What the interpreter has done since it was opened.
struct DeviceCounters {
  int64_t copies_in = -1, bytes_in = -1, copies_out = -1, bytes_out = -1, runs = -1, nodes = -1;
};
DeviceCounters counters(const Device& device);

// What `f` throws; one of kind internal if nothing.
Error error_of(const std::function<void()>& f);

}  // namespace plimsoll::testing

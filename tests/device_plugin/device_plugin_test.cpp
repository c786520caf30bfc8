// A device behind the C interface of include/plimsoll/device.h, from loading to late errors.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <vector>

#include "device/device.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

Error error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e;
  }
  return Error(ErrorKind::internal, "test", "nothing was thrown");
}

struct DoubleIt {
  std::array<TensorType, 1> type = {TensorType{DType::f32, {2, 2}}};
  Attrs attrs{{"scratch", int64_t{96}}};
  KernelRequest request(std::string_view op) const { return {op, KernelQuery{type, type, attrs}}; }
};

TEST(DevicePlugin, RunsAKernelOnItsOwnMemory) {
  const auto device = load_device(TEST_PLUGIN);
  EXPECT_EQ(device->name(), "test");
  EXPECT_EQ(device->describe(), "a test device");
  const int64_t before = device->memory().free;
  {
    DeviceBuffer buffer = device->allocate(64);
    EXPECT_EQ(device->memory().free, before - 64);
    Stream stream = device->make_stream();
    Event event = device->make_event();
    const DoubleIt it;
    const DeviceKernel kernel = device->prepare(it.request("double_it"));
    EXPECT_EQ(kernel.scratch, 96);
    EXPECT_EQ(kernel.name, "test kernel");
    const std::vector<float> in = {1, 2, 3, 4};
    std::vector<float> out(4);
    device->copy_in(stream, {&buffer, 16}, in.data(), 16);
    const std::array<Slice, 2> args = {Slice{&buffer, 16}, Slice{&buffer, 32}};
    device->launch(stream, kernel, args);
    device->copy(stream, {&buffer, 0}, {&buffer, 32}, 16);
    device->record(event, stream);
    device->wait(stream, event);
    device->copy_out(stream, out.data(), {&buffer, 0}, 16);
    device->sync(stream);
    EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 8}));
  }
  EXPECT_EQ(device->memory().free, before);
}

TEST(DevicePlugin, AnErrorOfTheDeviceComesAtTheNextSyncAndOnce) {
  const auto device = load_device(TEST_PLUGIN);
  DeviceBuffer buffer = device->allocate(64);
  Stream stream = device->make_stream();
  const DoubleIt it;
  const DeviceKernel kernel = device->prepare(it.request("fail_later"));
  const std::array<Slice, 2> args = {Slice{&buffer, 0}, Slice{&buffer, 32}};
  device->launch(stream, kernel, args);
  const Error e = error_of([&] { device->sync(stream); });
  EXPECT_EQ(e.kind(), ErrorKind::device);
  EXPECT_NE(std::string(e.what()).find("bad address"), std::string::npos);
  EXPECT_NO_THROW(device->sync(stream));
}

TEST(DevicePlugin, WhatItCannotDoIsAnErrorThatSaysSo) {
  const auto device = load_device(TEST_PLUGIN);
  const DoubleIt it;
  EXPECT_EQ(error_of([&] { device->prepare(it.request("conv")); }).kind(), ErrorKind::unsupported);
  EXPECT_EQ(error_of([&] { device->allocate(int64_t{1} << 40); }).kind(), ErrorKind::out_of_memory);
  DeviceBuffer buffer = device->allocate(8);
  Stream stream = device->make_stream();
  float four[4] = {};
  EXPECT_EQ(error_of([&] {
              device->copy_in(stream, {&buffer, 0}, four, 16);
            }).kind(),
            ErrorKind::invalid_argument);
  EXPECT_EQ(error_of([&] {
              device->copy_in(stream, {&buffer, -8}, four, 4);
            }).kind(),
            ErrorKind::invalid_argument);
}

TEST(DevicePlugin, OnlyAPluginOfThisVersionIsLoaded) {
  EXPECT_EQ(error_of([] { load_device("/nowhere/device.so"); }).kind(), ErrorKind::not_found);
  EXPECT_EQ(error_of([] { load_device(NO_PLUGIN); }).kind(), ErrorKind::bad_file);
  EXPECT_EQ(error_of([] { load_device(OLD_PLUGIN); }).kind(), ErrorKind::unsupported);
  EXPECT_EQ(error_of([] { load_device(TEST_PLUGIN, 7); }).kind(), ErrorKind::unsupported);
}

}  // namespace
}  // namespace plimsoll

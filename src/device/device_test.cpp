#include "device/device.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

struct Nothing {};
void negate(const Nothing&, void* const* args) {
  for (int i = 0; i < 4; ++i) static_cast<float*>(args[1])[i] = -static_cast<const float*>(args[0])[i];
}
constexpr KernelDef kKernels[] = {
    {.name = "never", .fits = [](const KernelQuery&) { return false; }},
    {.name = "refuses",
     .prepare = [](const KernelQuery&) -> Kernel { fail(ErrorKind::unsupported, "test", "no"); }},
    {.name = "negate",
     .prepare = [](const KernelQuery&) { return make_kernel<Nothing, negate>("negate", {}, 128); }},
};
const std::array<TensorType, 1> kType = {TensorType{DType::f32, {4}}};
const Attrs kAttrs;

TEST(Device, CpuRunsTheFirstKernelThatFits) {
  const auto cpu = device_cpu();
  DeviceBuffer buffer = cpu->allocate(128);
  Stream stream = cpu->make_stream();
  const DeviceKernel kernel = cpu->prepare({"negate", {kType, kType, kAttrs}, kKernels});
  EXPECT_EQ(kernel.name, "negate");
  EXPECT_EQ(kernel.scratch, 128);
  const std::vector<float> in = {1, 2, 3, 4};
  std::vector<float> out(4);
  cpu->copy_in(stream, {&buffer, 64}, in.data(), 16);
  cpu->launch(stream, kernel, std::array<Slice, 2>{Slice{&buffer, 64}, Slice{&buffer, 0}});
  cpu->copy_out(stream, out.data(), {&buffer, 0}, 16);
  cpu->sync(stream);
  EXPECT_EQ(out, (std::vector<float>{-1, -2, -3, -4}));
}

TEST(Device, AMissingKernelNamesOpDeviceAndTypes) {
  try {
    device_cpu()->prepare({"negate", {kType, kType, kAttrs}, std::span(kKernels).first(2)});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_STREQ(e.what(), "[negate] no cpu kernel for (float32(4,))");
  }
}

TEST(Device, NullTakesEverythingAndCounts) {
  const auto null = device_null();
  DeviceBuffer buffer = null->allocate(int64_t{1} << 50);
  Stream stream = null->make_stream();
  const DeviceKernel kernel = null->prepare({"anything", {kType, kType, kAttrs}});
  null->launch(stream, kernel, std::array<Slice, 1>{Slice{&buffer, 0}});
  null->copy(stream, {&buffer, 0}, {&buffer, 8}, 8);
  null->sync(stream);
  EXPECT_EQ(null->describe(), "null: 1 launches, 1 copies, 1125899906842624 bytes asked for");
}

TEST(Device, TheCpuSaysWhatItRunsOn) {
  const std::string text = describe_cpu();
  EXPECT_NE(text.find("Highway"), std::string::npos) << text;
  EXPECT_NE(text.find("threads"), std::string::npos) << text;
}

}  // namespace
}  // namespace plimsoll

// The null device: buffers are numbers, kernels do nothing. It takes every op, so that what the planner and
// the executor ask of a device can be tested without one.
#include <atomic>

#include "device/device.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

class NullDevice final : public Device {
 public:
  std::string_view name() const override { return "null"; }
  std::string describe() const override {
    return concat("null: ", launches_.load(), " launches, ", copies_.load(), " copies, ", bytes_.load(),
                  " bytes asked for");
  }
  DeviceMemory memory() const override { return {INT64_MAX, INT64_MAX}; }

 private:
  // Handles are told from "none" by not being null; nothing is ever read through them.
  void* next() { return reinterpret_cast<void*>(++handles_); }

  void* allocate_impl(int64_t bytes) override {
    bytes_ += bytes;
    return next();
  }
  void* make_stream_impl() override { return next(); }
  void* make_event_impl() override { return next(); }
  void* prepare_impl(const KernelRequest&, int64_t&, std::string& name) override {
    name = "null";
    return next();
  }
  void copy_in_impl(void*, Slice, const void*, int64_t) override { ++copies_; }
  void copy_out_impl(void*, void*, Slice, int64_t) override { ++copies_; }
  void copy_impl(void*, Slice, Slice, int64_t) override { ++copies_; }
  void launch_impl(void*, void*, std::span<const Slice>) override { ++launches_; }
  void record_impl(void*, void*) override {}
  void wait_impl(void*, void*) override {}
  void sync_impl(void*) override {}
  void release_impl(DeviceHandle::Kind, void*) noexcept override {}

  std::atomic<uintptr_t> handles_{0};
  std::atomic<int64_t> launches_{0}, copies_{0}, bytes_{0};
};

}  // namespace

std::shared_ptr<Device> device_null() { return std::make_shared<NullDevice>(); }

}  // namespace plimsoll

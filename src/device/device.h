// Device: where buffers lie and kernels run. One folder per device (cpu, null, plugin for those of
// include/plimsoll/device.h); nothing outside them knows which one it has. Handles keep their device
// alive. A device may be used from any thread, a stream from one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/kernel.h"

namespace plimsoll {

class Device;

struct DeviceMemory {
  int64_t total = 0;  // bytes it has
  int64_t free = 0;   // bytes it could still give to this process
};

// One object of a device: a buffer, stream, event or kernel. Gives it back when it dies.
class DeviceHandle {
 public:
  enum class Kind : uint8_t { buffer, stream, event, kernel };

  DeviceHandle() = default;
  DeviceHandle(std::shared_ptr<Device> device, Kind kind, void* object)
      : device_(std::move(device)), kind_(kind), object_(object) {}
  DeviceHandle(DeviceHandle&& other) noexcept { *this = std::move(other); }
  DeviceHandle& operator=(DeviceHandle&& other) noexcept;
  ~DeviceHandle();

  void* get() const { return object_; }
  Device& device() const { return *device_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::shared_ptr<Device> device_;
  Kind kind_ = Kind::buffer;
  void* object_ = nullptr;
};

struct DeviceBuffer : DeviceHandle {
  using DeviceHandle::DeviceHandle;
  int64_t bytes = 0;
};
struct Stream : DeviceHandle {
  using DeviceHandle::DeviceHandle;
};
struct Event : DeviceHandle {
  using DeviceHandle::DeviceHandle;
};
struct DeviceKernel : DeviceHandle {
  using DeviceHandle::DeviceHandle;
  int64_t scratch = 0;  // bytes
  std::string name;
};

struct Slice {
  const DeviceBuffer* buffer = nullptr;
  int64_t offset = 0;
};

// What a kernel is looked up by. `host_kernels` are the op's own for the CPU (OpDef::kernels); other
// devices have theirs.
struct KernelRequest {
  std::string_view op;
  KernelQuery query;
  std::span<const KernelDef> host_kernels = {};
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual std::string_view name() const = 0;  // "cpu"
  virtual std::string describe() const = 0;   // for people: hardware, libraries, threads
  virtual DeviceMemory memory() const = 0;

  // Throws Error{out_of_memory}.
  DeviceBuffer allocate(int64_t bytes);
  Stream make_stream();
  Event make_event();
  // Throws Error{unsupported} naming op, device and types if there is none.
  DeviceKernel prepare(const KernelRequest& request);

  // Queued on the stream, in order. Throw Error{invalid_argument} if a range is outside its buffer.
  void copy_in(Stream& stream, Slice to, const void* from, int64_t bytes);
  void copy_out(Stream& stream, void* to, Slice from, int64_t bytes);
  void copy(Stream& stream, Slice to, Slice from, int64_t bytes);
  // args: the inputs, the outputs, then the scratch if the kernel has any.
  void launch(Stream& stream, const DeviceKernel& kernel, std::span<const Slice> args);
  void record(Event& event, Stream& stream);
  void wait(Stream& stream, Event& event);
  // Waits for what was queued. Throws what failed meanwhile, once.
  void sync(Stream& stream);

 protected:
  Device() = default;

 private:
  friend class DeviceHandle;
  virtual void* allocate_impl(int64_t bytes) = 0;
  virtual void* make_stream_impl() = 0;
  virtual void* make_event_impl() = 0;
  // Returns null if it has no such kernel.
  virtual void* prepare_impl(const KernelRequest& request, int64_t& scratch, std::string& name) = 0;
  virtual void copy_in_impl(void* stream, Slice to, const void* from, int64_t bytes) = 0;
  virtual void copy_out_impl(void* stream, void* to, Slice from, int64_t bytes) = 0;
  virtual void copy_impl(void* stream, Slice to, Slice from, int64_t bytes) = 0;
  virtual void launch_impl(void* stream, void* kernel, std::span<const Slice> args) = 0;
  virtual void record_impl(void* event, void* stream) = 0;
  virtual void wait_impl(void* stream, void* event) = 0;
  virtual void sync_impl(void* stream) = 0;
  virtual void release_impl(DeviceHandle::Kind kind, void* object) noexcept = 0;
};

std::shared_ptr<Device> device_cpu();
// Allocates and runs nothing; counts what is asked of it. For tests of graph, planner and order.
std::shared_ptr<Device> device_null();
// A device of the plug-in in a shared library. Throws Error: {not_found} without the file, {bad_file}
// if it is no plug-in, {unsupported} if it is one for another version of the interface or has no device
// of this index.
std::shared_ptr<Device> load_device(const std::string& path, int index = 0);

// "oneDNN 3.2 (convolutions), own kernels on Highway avx2, 2 threads, one pool"
std::string describe_cpu();

}  // namespace plimsoll

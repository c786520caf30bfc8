#include "device/device.h"

#include <utility>

#include "plimsoll/error.h"

namespace plimsoll {
namespace {

std::string types_text(std::span<const TensorType> types) {
  std::string s;
  for (const TensorType& t : types) s += concat(s.empty() ? "" : ", ", t.dtype, t.shape);
  return s;
}

void require_range(const Device& device, Slice slice, int64_t bytes) {
  require(slice.buffer && *slice.buffer, device.name(), "expected a buffer, got none");
  require(bytes >= 0 && slice.offset >= 0 && slice.offset <= slice.buffer->bytes - bytes, device.name(),
          "expected ", bytes, " bytes at offset ", slice.offset, " inside a buffer of ", slice.buffer->bytes);
}

}  // namespace

DeviceHandle& DeviceHandle::operator=(DeviceHandle&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(kind_, other.kind_);
  std::swap(object_, other.object_);
  return *this;
}

DeviceHandle::~DeviceHandle() {
  if (object_) device_->release_impl(kind_, object_);
}

DeviceBuffer Device::allocate(int64_t bytes) {
  require(bytes >= 0, name(), "expected a size that is not negative, got ", bytes);
  DeviceBuffer buffer(shared_from_this(), DeviceHandle::Kind::buffer, allocate_impl(bytes));
  buffer.bytes = bytes;
  return buffer;
}

Stream Device::make_stream() {
  return Stream(shared_from_this(), DeviceHandle::Kind::stream, make_stream_impl());
}
Event Device::make_event() { return Event(shared_from_this(), DeviceHandle::Kind::event, make_event_impl()); }

DeviceKernel Device::prepare(const KernelRequest& request) {
  int64_t scratch = 0;
  std::string kernel_name;
  void* const object = prepare_impl(request, scratch, kernel_name);
  if (!object) {
    fail(ErrorKind::unsupported, request.op, "no ", name(), " kernel for (", types_text(request.query.in),
         ")");
  }
  DeviceKernel kernel(shared_from_this(), DeviceHandle::Kind::kernel, object);
  kernel.scratch = scratch;
  kernel.name = std::move(kernel_name);
  return kernel;
}

void Device::copy_in(Stream& stream, Slice to, const void* from, int64_t bytes) {
  require_range(*this, to, bytes);
  if (bytes > 0) copy_in_impl(stream.get(), to, from, bytes);
}

void Device::copy_out(Stream& stream, void* to, Slice from, int64_t bytes) {
  require_range(*this, from, bytes);
  if (bytes > 0) copy_out_impl(stream.get(), to, from, bytes);
}

void Device::copy(Stream& stream, Slice to, Slice from, int64_t bytes) {
  require_range(*this, to, bytes);
  require_range(*this, from, bytes);
  if (bytes > 0) copy_impl(stream.get(), to, from, bytes);
}

void Device::launch(Stream& stream, const DeviceKernel& kernel, std::span<const Slice> args) {
  launch_impl(stream.get(), kernel.get(), args);
}
void Device::record(Event& event, Stream& stream) { record_impl(event.get(), stream.get()); }
void Device::wait(Stream& stream, Event& event) { wait_impl(stream.get(), event.get()); }
void Device::sync(Stream& stream) { sync_impl(stream.get()); }

}  // namespace plimsoll

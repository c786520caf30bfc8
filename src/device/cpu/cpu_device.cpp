// The CPU as a Device: buffers are host memory, a stream runs what it is given at once, and kernels are
// those that the ops bring along. A kernel's errors are thrown by launch() itself.
#include <array>
#include <cstring>

#include "device/cpu/gemm.h"
#include "device/cpu/onednn.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"
#include "memory/buffer.h"
#include "memory/readings.h"
#include "plimsoll/error.h"

namespace plimsoll {
namespace {

constexpr size_t kMostArgs = 64;

std::byte* bytes_of(Slice slice) {
  const auto& buffer = *static_cast<const std::shared_ptr<Buffer>*>(slice.buffer->get());
  return static_cast<std::byte*>(buffer->data()) + slice.offset;
}

class CpuDevice final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  std::string describe() const override { return describe_cpu(); }
  DeviceMemory memory() const override {
    const auto system = readings::system();
    return system ? DeviceMemory{system->total, system->available} : DeviceMemory{};
  }

 private:
  void* allocate_impl(int64_t bytes) override { return new std::shared_ptr<Buffer>(Buffer::make(bytes)); }
  void* make_stream_impl() override { return this; }
  void* make_event_impl() override { return this; }

  void* prepare_impl(const KernelRequest& request, int64_t& scratch, std::string& name) override {
    for (const KernelDef& def : request.host_kernels) {
      if (def.fits && !def.fits(request.query)) continue;
      try {
        auto kernel = std::make_unique<Kernel>(def.prepare(request.query));
        scratch = kernel->scratch;
        name = kernel->name;
        return kernel.release();
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::unsupported) throw;
      }
    }
    return nullptr;
  }

  void copy_in_impl(void*, Slice to, const void* from, int64_t bytes) override {
    std::memcpy(bytes_of(to), from, static_cast<size_t>(bytes));
  }
  void copy_out_impl(void*, void* to, Slice from, int64_t bytes) override {
    std::memcpy(to, bytes_of(from), static_cast<size_t>(bytes));
  }
  void copy_impl(void*, Slice to, Slice from, int64_t bytes) override {
    std::memmove(bytes_of(to), bytes_of(from), static_cast<size_t>(bytes));
  }

  void launch_impl(void*, void* kernel, std::span<const Slice> args) override {
    require(args.size() <= kMostArgs, "cpu", "expected at most ", kMostArgs, " arguments of a kernel, got ",
            args.size());
    std::array<void*, kMostArgs + 1> pointers{};  // a scratch that nobody asked for is null
    for (size_t i = 0; i < args.size(); ++i) pointers[i] = bytes_of(args[i]);
    const Kernel& k = *static_cast<const Kernel*>(kernel);
    k.run(k.state.get(), pointers.data());
  }
  void record_impl(void*, void*) override {}
  void wait_impl(void*, void*) override {}
  void sync_impl(void*) override {}

  void release_impl(DeviceHandle::Kind kind, void* object) noexcept override {
    if (kind == DeviceHandle::Kind::buffer) delete static_cast<std::shared_ptr<Buffer>*>(object);
    if (kind == DeviceHandle::Kind::kernel) delete static_cast<Kernel*>(object);
  }
};

}  // namespace

std::shared_ptr<Device> device_cpu() {
  static const std::shared_ptr<Device> cpu = std::make_shared<CpuDevice>();
  return cpu;
}

std::string describe_cpu() {
  std::string text;
#if PLIMSOLL_HAVE_ONEDNN
  const dnnl_version_t& v = *dnnl_version();
  text = concat("oneDNN ", v.major, ".", v.minor, onednn_uses_our_pool() ? ", " : " (on its own threads), ");
#else
  text = "no oneDNN, ";
#endif
  return text + concat("own kernels on Highway ", highway_target(), ", ", hardware_threads(), " threads");
}

}  // namespace plimsoll

// The table of functions that the engine calls: plimsoll/device.h says what each one does.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "device.h"
#include "holders.h"
#include "libraries.h"
#include "program.h"
#include "support.h"

namespace {

using namespace plimsoll;
using namespace plimsoll::cuda;

int32_t device_count(int32_t* count, plimsoll_error* error) {
  return guarded(error, [&] {
    int found = 0;
    if (const CUresult result = driver().device_count(&found); result != kNoDevice)
      check(result, "counting devices");
    *count = found;
  });
}

plimsoll_device* device_open(int32_t index, plimsoll_error* error) {
  return guarded(error, [&] { return new plimsoll_device(index); });
}
void device_close(plimsoll_device* device) { delete device; }

int32_t device_describe(plimsoll_device* device, char* text, size_t size, plimsoll_error* error) {
  return guarded(error, [&] {
    int version = 0, major = 0, minor = 0;
    check(driver().driver_version(&version), "the driver's version");
    nvrtc().version(&major, &minor);
    const std::string others = memory_holders(device->number);
    std::snprintf(text, size, "%s, %d multiprocessors of capability %d.%d, CUDA %d.%d, NVRTC %d.%d%s%s%s",
                  device->name.c_str(), device->multiprocessors, device->capability / 10,
                  device->capability % 10, version / 1000, version % 1000 / 10, major, minor,
                  device->options.tf32 ? ", TF32" : "", others.empty() ? "" : "; of its memory ",
                  others.c_str());
  });
}

int32_t device_memory(plimsoll_device* device, plimsoll_memory_info* info, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(device);
    size_t free = 0, total = 0;
    check(driver().memory_info(&free, &total), "the device's memory");
    info->free = static_cast<int64_t>(free);
    info->total = static_cast<int64_t>(total);
  });
}

int32_t device_limits(plimsoll_device*, plimsoll_limits* limits, plimsoll_error*) {
  limits->alignment = 256;  // what cuBLASLt's fastest kernels want
  limits->fused_nodes = 64;
  limits->fused_arguments = 24;
  if (limits->size >= offsetof(plimsoll_limits, joins) + sizeof limits->joins) limits->joins = 1;
  return PLIMSOLL_OK;
}

plimsoll_buffer* buffer_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(device);
    auto buffer = std::make_unique<plimsoll_buffer>(plimsoll_buffer{0, bytes});
    if (bytes > 0) {
      const CUresult result = driver().memory_allocate(&buffer->at, static_cast<size_t>(bytes));
      if (result == kOutOfMemory) {
        size_t free = 0, total = 0;
        driver().memory_info(&free, &total);
        const std::string others = memory_holders(device->number);
        fail(ErrorKind::out_of_memory, "cuda", bytes, " bytes asked for, ", free, " of ", total, " are free",
             others.empty() ? others : concat("; ", others));
      }
      check(result, "allocating memory");
    }
    return buffer.release();
  });
}
void buffer_free(plimsoll_device* device, plimsoll_buffer* buffer) {
  plimsoll_error ignored{};
  guarded(&ignored, [&] {
    const Use use(device);
    if (buffer->at != 0) driver().memory_free(buffer->at);
  });
  delete buffer;
}

void* host_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(device);
    void* allocated = nullptr;
    check(driver().host_allocate(&allocated, static_cast<size_t>(bytes)), "page-locked memory");
    return allocated;
  });
}
void host_free(plimsoll_device* device, void* bytes) {
  plimsoll_error ignored{};
  guarded(&ignored, [&] {
    const Use use(device);
    driver().host_free(bytes);
  });
}

plimsoll_stream* stream_create(plimsoll_device* device, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(device);
    auto stream = std::make_unique<plimsoll_stream>(plimsoll_stream{device, nullptr});
    check(driver().stream_create(&stream->handle, kNonBlocking), "a stream");
    return stream.release();
  });
}
void stream_destroy(plimsoll_stream* stream) {
  plimsoll_error ignored{};
  guarded(&ignored, [&] {
    const Use use(stream->device);
    driver().stream_destroy(stream->handle);
  });
  delete stream;
}
int32_t stream_sync(plimsoll_stream* stream, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(stream->device);
    check(driver().stream_synchronize(stream->handle), "waiting for the device");
  });
}

void require_inside(const plimsoll_slice& slice, int64_t bytes) {
  require(slice.offset >= 0 && bytes >= 0 && bytes <= slice.buffer->bytes - slice.offset, "cuda",
          "expected a copy inside a buffer of ", slice.buffer->bytes, " bytes, got ", bytes, " from ",
          slice.offset);
}

int32_t copy_to_device(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                       plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(stream->device);
    require_inside(to, bytes);
    check(driver().copy_to_device(address(to), from, static_cast<size_t>(bytes), stream->handle),
          "a copy to the device");
  });
}
int32_t copy_to_host(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes,
                     plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(stream->device);
    require_inside(from, bytes);
    check(driver().copy_to_host(to, address(from), static_cast<size_t>(bytes), stream->handle),
          "a copy to the host");
  });
}

plimsoll_event* event_create(plimsoll_device* device, plimsoll_error* error) {
  return guarded(error, [&] {
    constexpr unsigned kNoTiming = 2;  // CU_EVENT_DISABLE_TIMING
    const Use use(device);
    auto event = std::make_unique<plimsoll_event>(plimsoll_event{device, nullptr});
    check(driver().event_create(&event->handle, kNoTiming), "an event");
    return event.release();
  });
}
void event_destroy(plimsoll_event* event) {
  plimsoll_error ignored{};
  guarded(&ignored, [&] {
    const Use use(event->device);
    driver().event_destroy(event->handle);
  });
  delete event;
}
int32_t event_record(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(event->device);
    check(driver().event_record(event->handle, stream->handle), "recording an event");
  });
}
int32_t event_wait(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(event->device);
    check(driver().stream_wait_event(stream->handle, event->handle, 0), "waiting for an event");
  });
}
int32_t event_sync(plimsoll_event* event, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(event->device);
    check(driver().event_synchronize(event->handle), "waiting for an event");
  });
}

int32_t support(plimsoll_device* device, const plimsoll_graph* graph, int32_t node, plimsoll_support* support,
                plimsoll_error* error) {
  return guarded(error, [&] { answer_support(*device, *graph, node, *support); });
}

plimsoll_program* program_compile(plimsoll_device* device, const plimsoll_graph* graph, int64_t* scratch,
                                  plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(device);
    return new plimsoll_program(device, *graph, scratch);
  });
}
void program_destroy(plimsoll_program* program) {
  plimsoll_error ignored{};
  guarded(&ignored, [&] {
    const Use use(program->device);
    delete program;
  });
}
int32_t program_plan(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(program->device);
    program->set_plan(*plan);
  });
}
int64_t program_kept(plimsoll_program* program) { return program->kept_bytes(); }
int32_t program_run(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                    plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(program->device);
    program->run(stream->handle, *run);
  });
}
int32_t program_kernel_name(plimsoll_program* program, int32_t node, char* text, size_t size,
                            plimsoll_error* error) {
  return guarded(error, [&] { std::snprintf(text, size, "%s", program->kernel_name(node).c_str()); });
}
int32_t program_profile(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                        double* seconds, plimsoll_error* error) {
  return guarded(error, [&] {
    const Use use(program->device);
    program->profile(stream->handle, *run, seconds);
  });
}

constexpr plimsoll_device_table kTable = {
    .size = sizeof(plimsoll_device_table),
    .major = PLIMSOLL_DEVICE_MAJOR,
    .minor = PLIMSOLL_DEVICE_MINOR,
    .name = "cuda",
    .device_count = device_count,
    .device_open = device_open,
    .device_close = device_close,
    .device_describe = device_describe,
    .device_memory = device_memory,
    .device_limits = device_limits,
    .buffer_allocate = buffer_allocate,
    .buffer_free = buffer_free,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_sync = stream_sync,
    .copy_to_device = copy_to_device,
    .copy_to_host = copy_to_host,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_sync = event_sync,
    .support = support,
    .program_compile = program_compile,
    .program_destroy = program_destroy,
    .program_plan = program_plan,
    .program_run = program_run,
    .program_kernel_name = program_kernel_name,
    .program_profile = program_profile,
    .host_allocate = host_allocate,
    .host_free = host_free,
    .program_kept = program_kept,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const plimsoll_device_table* plimsoll_device_plugin(
    uint16_t major) {
  return major == PLIMSOLL_DEVICE_MAJOR ? &kTable : nullptr;
}

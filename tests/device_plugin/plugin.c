/* A device in plain C, for the tests of the plug-in interface: memory of the host, sums, differences and products of
 * float32 where one side may be a scalar, one op of its own ("double_it"), and one that fails late ("fail_later"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plimsoll/device.h"

#ifndef TEST_PLUGIN_MAJOR
#define TEST_PLUGIN_MAJOR PLIMSOLL_DEVICE_MAJOR
#endif

struct plimsoll_device { int64_t used; };
struct plimsoll_buffer { int64_t bytes; char* data; };
struct plimsoll_stream { plimsoll_error late; };
struct plimsoll_event { int unused; };
enum task { DOUBLE_IT, FAIL_LATER, ADD, SUBTRACT, MULTIPLY };
static const char* const kOps[] = {"double_it", "fail_later", "add", "subtract", "multiply"};
static const int32_t kFloat32 = 11;
struct plimsoll_kernel { int64_t elements; int64_t step[2]; enum task task; };

static const int64_t kTotal = 1 << 20;

static int32_t report(plimsoll_error* error, int32_t kind, const char* message) {
  error->kind = kind;
  snprintf(error->message, sizeof error->message, "%s", message);
  return kind;
}

static int32_t device_count(int32_t* count, plimsoll_error* error) {
  (void)error;
  *count = 1;
  return PLIMSOLL_OK;
}
static plimsoll_device* device_open(int32_t index, plimsoll_error* error) {
  (void)index, (void)error;
  return calloc(1, sizeof(plimsoll_device));
}
static void device_close(plimsoll_device* device) { free(device); }
static int32_t device_describe(plimsoll_device* device, char* text, size_t size, plimsoll_error* error) {
  (void)device, (void)error;
  snprintf(text, size, "a test device");
  return PLIMSOLL_OK;
}
static int32_t device_memory(plimsoll_device* device, plimsoll_memory_info* info, plimsoll_error* error) {
  (void)error;
  info->total = kTotal;
  info->free = kTotal - device->used;
  return PLIMSOLL_OK;
}

static plimsoll_buffer* buffer_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error) {
  plimsoll_buffer* buffer;
  if (bytes > kTotal - device->used) {
    report(error, PLIMSOLL_OUT_OF_MEMORY, "the test device is full");
    return NULL;
  }
  buffer = malloc(sizeof *buffer);
  buffer->bytes = bytes;
  buffer->data = malloc((size_t)bytes + 1);
  device->used += bytes;
  return buffer;
}
static void buffer_free(plimsoll_device* device, plimsoll_buffer* buffer) {
  device->used -= buffer->bytes;
  free(buffer->data);
  free(buffer);
}

static plimsoll_stream* stream_create(plimsoll_device* device, plimsoll_error* error) {
  (void)device, (void)error;
  return calloc(1, sizeof(plimsoll_stream));
}
static void stream_destroy(plimsoll_stream* stream) { free(stream); }
static int32_t stream_sync(plimsoll_stream* stream, plimsoll_error* error) {
  *error = stream->late;
  memset(&stream->late, 0, sizeof stream->late);
  return error->kind;
}
static int32_t copy_to_device(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                              plimsoll_error* error) {
  (void)stream, (void)error;
  memmove(to.buffer->data + to.offset, from, (size_t)bytes);
  return PLIMSOLL_OK;
}
static int32_t copy_to_host(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes, plimsoll_error* error) {
  (void)stream, (void)error;
  memcpy(to, from.buffer->data + from.offset, (size_t)bytes);
  return PLIMSOLL_OK;
}
static int32_t copy_on_device(plimsoll_stream* stream, plimsoll_slice to, plimsoll_slice from, int64_t bytes,
                              plimsoll_error* error) {
  return copy_to_device(stream, to, from.buffer->data + from.offset, bytes, error);
}

static plimsoll_event* event_create(plimsoll_device* device, plimsoll_error* error) {
  (void)device, (void)error;
  return calloc(1, sizeof(plimsoll_event));
}
static void event_destroy(plimsoll_event* event) { free(event); }
static int32_t event_pass(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error) {
  (void)event, (void)stream, (void)error;
  return PLIMSOLL_OK;
}

static int64_t elements(const plimsoll_type* type) {
  int64_t n = 1;
  int32_t i;
  for (i = 0; i < type->rank; ++i) n *= type->sizes[i];
  return n;
}
static plimsoll_kernel* kernel_prepare(plimsoll_device* device, const plimsoll_kernel_query* query, int64_t* scratch,
                                       plimsoll_error* error) {
  plimsoll_kernel kernel = {0, {0, 0}, DOUBLE_IT};
  plimsoll_kernel* made;
  size_t task = 0;
  int32_t i;
  (void)device;
  while (task < sizeof kOps / sizeof *kOps && strcmp(query->op, kOps[task]) != 0) ++task;
  if (task == sizeof kOps / sizeof *kOps || query->inputs[0].dtype != kFloat32) {
    report(error, PLIMSOLL_UNSUPPORTED, "no such kernel");
    return NULL;
  }
  kernel.task = (enum task)task;
  kernel.elements = elements(&query->outputs[0]);
  for (i = 0; i < query->input_count && i < 2; ++i) {
    const int64_t n = elements(&query->inputs[i]);
    if (n != kernel.elements && n != 1) {
      report(error, PLIMSOLL_UNSUPPORTED, "only scalars are broadcast");
      return NULL;
    }
    kernel.step[i] = n == kernel.elements;
  }
  for (i = 0; i < query->attr_count; ++i) {
    if (strcmp(query->attrs[i].name, "scratch") == 0) *scratch = query->attrs[i].integer;
  }
  made = malloc(sizeof *made);
  *made = kernel;
  return made;
}
static void kernel_destroy(plimsoll_kernel* kernel) { free(kernel); }
static int32_t kernel_name(plimsoll_kernel* kernel, char* text, size_t size, plimsoll_error* error) {
  (void)kernel, (void)error;
  snprintf(text, size, "test kernel");
  return PLIMSOLL_OK;
}
static int32_t kernel_launch(plimsoll_kernel* kernel, plimsoll_stream* stream, const plimsoll_slice* args,
                             plimsoll_error* error) {
  const int binary = kernel->task >= ADD;
  const float* a = (const float*)(args[0].buffer->data + args[0].offset);
  const float* b = (const float*)(args[1].buffer->data + args[1].offset);
  float* out = (float*)(args[1 + binary].buffer->data + args[1 + binary].offset);
  int64_t i;
  (void)error;
  if (kernel->task == FAIL_LATER) {
    report(&stream->late, PLIMSOLL_DEVICE_ERROR, "the kernel met a bad address");
    return PLIMSOLL_OK;
  }
  for (i = 0; i < kernel->elements; ++i) {
    const float x = a[i * kernel->step[0]];
    const float y = binary ? b[i * kernel->step[1]] : x;
    out[i] = kernel->task == MULTIPLY ? x * y : kernel->task == SUBTRACT ? x - y : x + y;
  }
  return PLIMSOLL_OK;
}

__attribute__((visibility("default"))) const plimsoll_device_table* plimsoll_device_plugin(uint16_t major) {
  static const plimsoll_device_table table = {
      sizeof(plimsoll_device_table), TEST_PLUGIN_MAJOR, PLIMSOLL_DEVICE_MINOR, "test", device_count, device_open,
      device_close, device_describe, device_memory, buffer_allocate, buffer_free, stream_create, stream_destroy,
      stream_sync, copy_to_device, copy_to_host, copy_on_device, event_create, event_destroy, event_pass, event_pass,
      kernel_prepare, kernel_destroy, kernel_name, kernel_launch};
  (void)major;
  return &table;
}

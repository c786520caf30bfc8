/* The device: a heap of the host that nobody else looks into, with a limit, and the options of the
 * environment. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"

int32_t report(plimsoll_error* error, int32_t kind, const char* message) {
  error->kind = kind;
  snprintf(error->message, sizeof error->message, "%s", message);
  return kind;
}

/* ---- options */

/* The value of "name=123" or, for a plain name, 1; `fallback` if the list does not have it. */
static int64_t option(const char* list, const char* name, int64_t fallback) {
  const size_t length = strlen(name);
  while (list != NULL && *list != '\0') {
    if (strncmp(list, name, length) == 0) {
      if (list[length] == '=') return strtoll(list + length + 1, NULL, 10);
      if (list[length] == ',' || list[length] == '\0') return 1;
    }
    list = strchr(list, ',');
    if (list != NULL) ++list;
  }
  return fallback;
}

static options read_options(void) {
  const char* list = getenv("PLIMSOLL_INTERPRETER");
  options o;
  o.no_in_place = (int)option(list, "no_in_place", 0);
  o.fuse_folds = (int)option(list, "fuse_folds", 0);
  o.fuse = o.fuse_folds || option(list, "fuse", 0);
  o.library = (int)option(list, "library", 0);
  o.fail_at = option(list, "fail_at", 0);
  o.lose_at = option(list, "lose_at", 0);
  o.memory = option(list, "memory", (int64_t)1 << 30);
  o.slow = option(list, "slow", 0);
  o.await_copies = option(list, "await_copies", 0);
  o.alignment = option(list, "alignment", 0);
  o.fused_nodes = option(list, "fused_nodes", 0);
  o.fused_arguments = option(list, "fused_arguments", 0);
  o.joins = (int)option(list, "joins", 0);
  return o;
}

/* ---- functions of the table */

int32_t device_count(int32_t* count, plimsoll_error* error) {
  (void)error;
  *count = 1;
  return PLIMSOLL_OK;
}

plimsoll_device* device_open(int32_t index, plimsoll_error* error) {
  plimsoll_device* device = index == 0 ? calloc(1, sizeof *device) : NULL;
  if (device == NULL) {
    report(error, index == 0 ? PLIMSOLL_OUT_OF_MEMORY : PLIMSOLL_INVALID_ARGUMENT,
           index == 0 ? "no memory for the device" : "there is one device, number 0");
    return NULL;
  }
  device->options = read_options();
  pthread_mutex_init(&device->lock, NULL);
  pthread_mutex_init(&device->copying, NULL);
  pthread_cond_init(&device->copy_done, NULL);
  return device;
}

void device_close(plimsoll_device* device) {
  pthread_cond_destroy(&device->copy_done);
  pthread_mutex_destroy(&device->copying);
  pthread_mutex_destroy(&device->lock);
  free(device);
}

int32_t device_describe(plimsoll_device* device, char* text, size_t size, plimsoll_error* error) {
  (void)error;
  pthread_mutex_lock(&device->lock);
  const counters n = device->counters;
  pthread_mutex_unlock(&device->lock);
  snprintf(
      text, size,
      "interpreter: %lld copies to the device (%lld bytes), %lld back (%lld bytes), %lld runs, %lld nodes",
      (long long)n.copies_in, (long long)n.bytes_in, (long long)n.copies_out, (long long)n.bytes_out,
      (long long)n.runs, (long long)n.nodes);
  return PLIMSOLL_OK;
}

int32_t device_memory(plimsoll_device* device, plimsoll_memory_info* info, plimsoll_error* error) {
  (void)error;
  pthread_mutex_lock(&device->lock);
  info->total = device->options.memory;
  info->free = device->options.memory - device->used;
  pthread_mutex_unlock(&device->lock);
  return PLIMSOLL_OK;
}

/* 0: the engine's own number will do. */
int32_t device_limits(plimsoll_device* device, plimsoll_limits* limits, plimsoll_error* error) {
  (void)error;
  limits->alignment = device->options.alignment;
  limits->fused_nodes = (int32_t)device->options.fused_nodes;
  limits->fused_arguments = (int32_t)device->options.fused_arguments;
#if PLIMSOLL_DEVICE_MINOR >= 1 /* in your own plug-in there is one version: that of your header */
  if (limits->size >= offsetof(plimsoll_limits, joins) + sizeof limits->joins)
    limits->joins = device->options.joins;
#endif
  return PLIMSOLL_OK;
}

int32_t require_device(plimsoll_device* device, plimsoll_error* error) {
  pthread_mutex_lock(&device->lock);
  const int lost = device->lost;
  pthread_mutex_unlock(&device->lock);
  if (!lost) return PLIMSOLL_OK;
  error->lost = 1;
  return report(error, PLIMSOLL_DEVICE_ERROR, "the device is lost");
}

void count_copy(plimsoll_device* device) {
  pthread_mutex_lock(&device->lock);
  ++device->counters.copied;
  pthread_cond_broadcast(&device->copy_done);
  pthread_mutex_unlock(&device->lock);
}

/* With the lock held. Whether the copies that options ask for were done while a node was running. */
static int await_copies(plimsoll_device* device) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  while (device->counters.copied < device->options.await_copies)
    if (pthread_cond_timedwait(&device->copy_done, &device->lock, &end) != 0) return 0;
  return 1;
}

int32_t count_node(plimsoll_device* device, plimsoll_error* error) {
  pthread_mutex_lock(&device->lock);
  const int64_t number = ++device->counters.nodes;
  const int overtaken = number != 1 || await_copies(device);
  if (number == device->options.lose_at) device->lost = 1;
  const int lost = device->lost;
  pthread_mutex_unlock(&device->lock);
  if (lost) return require_device(device, error);
  if (!overtaken) return report(error, PLIMSOLL_DEVICE_ERROR, "no copy was made while a node ran");
  if (number == device->options.fail_at)
    return report(error, PLIMSOLL_DEVICE_ERROR, "the kernel met a bad address");
  return PLIMSOLL_OK;
}

/* ---- memory */

/* Bytes that were free before; nothing is taken if they are less than `bytes`. */
static int64_t take(plimsoll_device* device, int64_t bytes) {
  pthread_mutex_lock(&device->lock);
  const int64_t left = device->options.memory - device->used;
  if (bytes <= left) device->used += bytes;
  pthread_mutex_unlock(&device->lock);
  return left;
}
static void give_back(plimsoll_device* device, int64_t bytes) {
  pthread_mutex_lock(&device->lock);
  device->used -= bytes;
  pthread_mutex_unlock(&device->lock);
}

plimsoll_buffer* buffer_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error) {
  if (require_device(device, error) != PLIMSOLL_OK) return NULL;
  const int64_t left = take(device, bytes);
  if (bytes > left) {
    error->kind = PLIMSOLL_OUT_OF_MEMORY;
    snprintf(error->message, sizeof error->message, "%lld bytes asked for, %lld of %lld are free",
             (long long)bytes, (long long)left, (long long)device->options.memory);
    return NULL;
  }
  plimsoll_buffer* buffer = malloc(sizeof *buffer);
  void* data = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  if (buffer == NULL || data == NULL) {
    free(buffer);
    free(data);
    give_back(device, bytes);
    report(error, PLIMSOLL_OUT_OF_MEMORY, "the host has no memory for the device");
    return NULL;
  }
  memset(data, 0xFF, (size_t)bytes); /* what nobody has written is NaN, so that it shows */
  buffer->bytes = bytes;
  buffer->data = data;
  return buffer;
}

void buffer_free(plimsoll_device* device, plimsoll_buffer* buffer) {
  give_back(device, buffer->bytes);
  host_free(device, buffer->data);
  free(buffer);
}

/* A device with a bus would lock the pages. */
void* host_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error) {
  void* data = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  (void)device;
  if (data == NULL) report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for staging");
  return data;
}
void host_free(plimsoll_device* device, void* bytes) {
  pthread_mutex_lock(&device->copying);
  free(bytes);
  pthread_mutex_unlock(&device->copying);
}

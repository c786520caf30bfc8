/* The one symbol of the plug-in. The macros are for tests: they make plug-ins of an older, a newer and a
 * foreign version of the interface from the same files. */
#include "device.h"

#ifndef INTERPRETER_SIZE
#define INTERPRETER_SIZE sizeof(plimsoll_device_table)
#endif
#ifndef INTERPRETER_MAJOR
#define INTERPRETER_MAJOR PLIMSOLL_DEVICE_MAJOR
#endif
#ifndef INTERPRETER_MINOR
#define INTERPRETER_MINOR PLIMSOLL_DEVICE_MINOR
#endif

/* What a later version of the interface might add behind the functions of this one. */
static struct {
  plimsoll_device_table known;
  void (*unknown[4])(void);
} table = {
    .known = /* without program_kept: it keeps nothing */
    {
        .size = INTERPRETER_SIZE,
        .major = INTERPRETER_MAJOR,
        .minor = INTERPRETER_MINOR,
        .name = "interpreter",
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
    },
};

__attribute__((visibility("default"))) const plimsoll_device_table* plimsoll_device_plugin(uint16_t major) {
#ifndef INTERPRETER_SERVES_ANY
  if (major != INTERPRETER_MAJOR) return NULL;
#endif
  (void)major;
  return &table.known;
}

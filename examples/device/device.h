/* The functions of the table that plugin.c hands out: see plimsoll/device.h. */
#ifndef DEVICE_H
#define DEVICE_H

#include "interpreter.h"

int32_t device_count(int32_t* count, plimsoll_error* error);
plimsoll_device* device_open(int32_t index, plimsoll_error* error);
void device_close(plimsoll_device* device);
int32_t device_describe(plimsoll_device* device, char* text, size_t size, plimsoll_error* error);
int32_t device_memory(plimsoll_device* device, plimsoll_memory_info* info, plimsoll_error* error);
int32_t device_limits(plimsoll_device* device, plimsoll_limits* limits, plimsoll_error* error);
plimsoll_buffer* buffer_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error);
void buffer_free(plimsoll_device* device, plimsoll_buffer* buffer);
void* host_allocate(plimsoll_device* device, int64_t bytes, plimsoll_error* error);
void host_free(plimsoll_device* device, void* bytes);

int32_t support(plimsoll_device* device, const plimsoll_graph* graph, int32_t node, plimsoll_support* support,
                plimsoll_error* error);
plimsoll_program* program_compile(plimsoll_device* device, const plimsoll_graph* graph, int64_t* scratch,
                                  plimsoll_error* error);
void program_destroy(plimsoll_program* program);
int32_t program_plan(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error);
int32_t program_run(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                    plimsoll_error* error);
int32_t program_kernel_name(plimsoll_program* program, int32_t node, char* text, size_t size,
                            plimsoll_error* error);
int32_t program_profile(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                        double* seconds, plimsoll_error* error);

plimsoll_stream* stream_create(plimsoll_device* device, plimsoll_error* error);
void stream_destroy(plimsoll_stream* stream);
int32_t stream_sync(plimsoll_stream* stream, plimsoll_error* error);
int32_t copy_to_device(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                       plimsoll_error* error);
int32_t copy_to_host(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes,
                     plimsoll_error* error);
plimsoll_event* event_create(plimsoll_device* device, plimsoll_error* error);
void event_destroy(plimsoll_event* event);
int32_t event_record(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);
int32_t event_wait(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);
int32_t event_sync(plimsoll_event* event, plimsoll_error* error);

#endif

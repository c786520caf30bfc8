/* The interface of a device plug-in, in C, so that it may be built by another compiler and shipped apart. A
 * plug-in is a shared library that exports plimsoll_device_plugin(); the engine loads it, asks for the table
 * of functions below, and uses a device only through them. Nothing throws or exits across this border: a
 * function that can fail takes a plimsoll_error to fill in. All functions may be called from any thread; one
 * stream is used by one thread at a time.
 *
 * Work on a stream runs later, in order. What fails while it runs is kept with the stream and reported by the
 * next stream_sync(). Buffers are named by a handle and an offset, so that a device without addresses (Metal)
 * fits too. */
#ifndef PLIMSOLL_DEVICE_H
#define PLIMSOLL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The engine takes a plug-in of the same major number and of any minor one: functions are only ever added, at
 * the end of the table, and `size` says how many a plug-in has. */
#define PLIMSOLL_DEVICE_MAJOR 1
#define PLIMSOLL_DEVICE_MINOR 0

/* Kinds of errors: 0 is success; the others are those of plimsoll::ErrorKind, from 1. */
enum {
  PLIMSOLL_OK = 0,
  PLIMSOLL_INVALID_ARGUMENT = 1,
  PLIMSOLL_NOT_FOUND = 2,
  PLIMSOLL_UNSUPPORTED = 3,
  PLIMSOLL_BAD_FILE = 4,
  PLIMSOLL_IO = 5,
  PLIMSOLL_OUT_OF_MEMORY = 6,
  PLIMSOLL_DEVICE_ERROR = 7,
  PLIMSOLL_INTERNAL = 8
};

/* Zeroed by the caller. On failure: a kind and a message that ends in a zero byte. */
typedef struct plimsoll_error {
  int32_t kind;
  char message[508];
} plimsoll_error;

/* The plug-in's own objects. */
typedef struct plimsoll_device plimsoll_device;
typedef struct plimsoll_buffer plimsoll_buffer;
typedef struct plimsoll_stream plimsoll_stream;
typedef struct plimsoll_event plimsoll_event;
typedef struct plimsoll_kernel plimsoll_kernel;

/* Bytes of a buffer from an offset on. */
typedef struct plimsoll_slice {
  plimsoll_buffer* buffer;
  int64_t offset;
} plimsoll_slice;

typedef struct plimsoll_memory_info {
  int64_t total; /* bytes the device has */
  int64_t free;  /* bytes it could still give to this process */
} plimsoll_memory_info;

/* A dense tensor. dtype: the numbers of plimsoll::DType. layout: 0 is row-major; others are the device's own
 * and come only from its kernels. */
typedef struct plimsoll_type {
  int32_t dtype;
  int32_t layout;
  int32_t rank;
  const int64_t* sizes;
} plimsoll_type;

enum {
  PLIMSOLL_ATTR_BOOL = 0,   /* integer */
  PLIMSOLL_ATTR_INT = 1,    /* integer */
  PLIMSOLL_ATTR_REAL = 2,   /* real */
  PLIMSOLL_ATTR_STRING = 3, /* string */
  PLIMSOLL_ATTR_INTS = 4,   /* ints, count */
  PLIMSOLL_ATTR_DTYPE = 5   /* integer */
};

/* A named constant of an op. Which field holds it follows from the kind. */
typedef struct plimsoll_attr {
  const char* name;
  int32_t kind;
  int32_t count;
  int64_t integer;
  double real;
  const char* string;
  const int64_t* ints;
} plimsoll_attr;

/* What a kernel is looked up by. Valid during the call only. */
typedef struct plimsoll_kernel_query {
  const char* op;
  const plimsoll_type* inputs;
  const plimsoll_type* outputs;
  const plimsoll_attr* attrs;
  int32_t input_count;
  int32_t output_count;
  int32_t attr_count;
} plimsoll_kernel_query;

/* Functions that return a pointer return null on failure, others an error kind. Texts are cut to `size`
 * bytes, the zero byte included. */
typedef struct plimsoll_device_table {
  uint32_t size; /* sizeof(plimsoll_device_table) where the plug-in was built */
  uint16_t major;
  uint16_t minor;
  const char* name; /* "cuda" */

  int32_t (*device_count)(int32_t* count, plimsoll_error* error);
  plimsoll_device* (*device_open)(int32_t index, plimsoll_error* error);
  void (*device_close)(plimsoll_device* device);
  int32_t (*device_describe)(plimsoll_device* device, char* text, size_t size, plimsoll_error* error);
  int32_t (*device_memory)(plimsoll_device* device, plimsoll_memory_info* info, plimsoll_error* error);

  plimsoll_buffer* (*buffer_allocate)(plimsoll_device* device, int64_t bytes, plimsoll_error* error);
  void (*buffer_free)(plimsoll_device* device, plimsoll_buffer* buffer);

  plimsoll_stream* (*stream_create)(plimsoll_device* device, plimsoll_error* error);
  void (*stream_destroy)(plimsoll_stream* stream);
  /* Waits for everything queued; reports the first failure since the last sync and forgets it. */
  int32_t (*stream_sync)(plimsoll_stream* stream, plimsoll_error* error);
  /* Host bytes must live until the stream has passed the copy. */
  int32_t (*copy_to_device)(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                            plimsoll_error* error);
  int32_t (*copy_to_host)(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes,
                          plimsoll_error* error);
  int32_t (*copy_on_device)(plimsoll_stream* stream, plimsoll_slice to, plimsoll_slice from, int64_t bytes,
                            plimsoll_error* error);

  plimsoll_event* (*event_create)(plimsoll_device* device, plimsoll_error* error);
  void (*event_destroy)(plimsoll_event* event);
  int32_t (*event_record)(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);
  /* Work queued on the stream from now on waits for the event. */
  int32_t (*event_wait)(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);

  /* Makes a kernel ready: chooses code, compiles, and says in *scratch how many bytes it needs when it runs.
   * Null with PLIMSOLL_UNSUPPORTED if the device has none for this query. */
  plimsoll_kernel* (*kernel_prepare)(plimsoll_device* device, const plimsoll_kernel_query* query,
                                     int64_t* scratch, plimsoll_error* error);
  void (*kernel_destroy)(plimsoll_kernel* kernel);
  int32_t (*kernel_name)(plimsoll_kernel* kernel, char* text, size_t size, plimsoll_error* error);
  /* args: the inputs, the outputs, then the scratch if it has any. Allocates nothing. */
  int32_t (*kernel_launch)(plimsoll_kernel* kernel, plimsoll_stream* stream, const plimsoll_slice* args,
                           plimsoll_error* error);
} plimsoll_device_table;

/* The one symbol of a plug-in. `major` is the engine's; null if the plug-in cannot serve it. The table lives
 * as long as the library. */
typedef const plimsoll_device_table* (*plimsoll_device_plugin_fn)(uint16_t major);
#define PLIMSOLL_DEVICE_PLUGIN_SYMBOL "plimsoll_device_plugin"

#ifdef __cplusplus
}
#endif

#endif

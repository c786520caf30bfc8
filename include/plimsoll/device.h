/* The interface of a device plug-in, in C, so that it may be built by another compiler and shipped apart. A
 * plug-in is a shared library that exports plimsoll_device_plugin(); the engine loads it, asks for the table
 * of functions below, and uses a device only through them. docs/devices.md tells the way, examples/device has
 * a whole plug-in, and device_ops.h lists every op with its attributes.
 *
 * How a program comes to a device:
 *   1. support() says of each op what the device can do with it. Ops it cannot run are taken apart into ops
 *      that it can; what it says it fuses becomes nodes "fused".
 *   2. program_compile() gets the whole graph: chooses code, compiles, and says how much scratch each node
 *      needs.
 *   3. program_plan() gets the order of nodes and the place of every value.
 *   4. program_run() runs all of it, once per step, on a stream.
 * The engine owns every buffer: arena, inputs, outputs, variables, constants. A plug-in allocates nothing
 * that grows with the program or the data except code.
 *
 * Nothing throws or exits across this border: a function that can fail takes a plimsoll_error to fill in. All
 * functions may be called from any thread; one stream, and one program, by one thread at a time. Work on a
 * stream runs later, in order. What fails while it runs is kept with the stream and reported by the next
 * stream_sync(). Buffers are named by a handle and an offset, so that a device without addresses (Metal) fits
 * too. */
#ifndef PLIMSOLL_DEVICE_H
#define PLIMSOLL_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The engine takes a plug-in of the same major number and of any minor one. Functions and fields are only
 * ever added, at the end: `size` says how much of a struct its maker knows. What is beyond the size of the
 * other side is as if it were null or zero, and is not written. */
#define PLIMSOLL_DEVICE_MAJOR 2
#define PLIMSOLL_DEVICE_MINOR 1

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

/* The plug-in's own objects. */
typedef struct plimsoll_device plimsoll_device;
typedef struct plimsoll_buffer plimsoll_buffer;
typedef struct plimsoll_stream plimsoll_stream;
typedef struct plimsoll_event plimsoll_event;
typedef struct plimsoll_program plimsoll_program;

/* Zeroed by the caller, `node` is -1. On failure: a kind and a message that ends in a zero byte. */
typedef struct plimsoll_error {
  int32_t kind;
  int32_t lost;              /* 1: the device will not work again in this process */
  plimsoll_program* program; /* where it failed, and in which node: the engine then names layer and op; */
  int32_t node;              /* null and -1: nowhere in particular */
  char message[492];
} plimsoll_error;

/* Bytes of a buffer from an offset on. */
typedef struct plimsoll_slice {
  plimsoll_buffer* buffer;
  int64_t offset;
} plimsoll_slice;

typedef struct plimsoll_memory_info {
  int64_t total; /* bytes the device has */
  int64_t free;  /* bytes it could still give to this process */
} plimsoll_memory_info;

/* Element types: bool is one byte, 0 or 1; complex ones are two floats. */
enum {
  PLIMSOLL_BOOL = 0,
  PLIMSOLL_U8 = 1,
  PLIMSOLL_U16 = 2,
  PLIMSOLL_U32 = 3,
  PLIMSOLL_U64 = 4,
  PLIMSOLL_I8 = 5,
  PLIMSOLL_I16 = 6,
  PLIMSOLL_I32 = 7,
  PLIMSOLL_I64 = 8,
  PLIMSOLL_F16 = 9,
  PLIMSOLL_BF16 = 10,
  PLIMSOLL_F32 = 11,
  PLIMSOLL_F64 = 12,
  PLIMSOLL_C64 = 13,
  PLIMSOLL_C128 = 14
};

/* A dense tensor, row-major; images are channels-last. */
typedef struct plimsoll_type {
  int32_t dtype;
  int32_t rank; /* at most 8 */
  const int64_t* sizes;
} plimsoll_type;

enum {
  PLIMSOLL_ATTR_BOOL = 0,   /* integer */
  PLIMSOLL_ATTR_INT = 1,    /* integer */
  PLIMSOLL_ATTR_REAL = 2,   /* real */
  PLIMSOLL_ATTR_STRING = 3, /* string */
  PLIMSOLL_ATTR_INTS = 4,   /* ints, count */
  PLIMSOLL_ATTR_DTYPE = 5,  /* integer */
  PLIMSOLL_ATTR_TENSOR = 6, /* type, data: bytes on the host */
  PLIMSOLL_ATTR_GRAPH = 7   /* graph; program and arena_bytes, see below */
};

struct plimsoll_graph;

/* A named constant of an op. Which fields hold it follows from the kind. */
typedef struct plimsoll_attr {
  const char* name;
  int32_t kind;
  int32_t count;
  int64_t integer;
  double real;
  const char* string;
  const int64_t* ints;
  plimsoll_type type;
  const void* data;
  const struct plimsoll_graph* graph;
  /* The graph, compiled by program_compile() and planned: the node runs it with an arena of arena_bytes,
   * which it asks for as part of its scratch. Lives as long as the program with the node. Null in support(),
   * and for the body of a "fused" node, which the device runs as it likes. */
  plimsoll_program* program;
  int64_t arena_bytes;
} plimsoll_attr;

/* An op on values of a graph, which are named by their index. */
typedef struct plimsoll_node {
  const char* op;    /* see device_ops.h */
  const char* layer; /* for messages: "block1/conv2d"; may be empty */
  const int32_t* inputs;
  const int32_t* outputs;
  const plimsoll_attr* attrs;
  int32_t input_count;
  int32_t output_count;
  int32_t attr_count;
  /* 1: the output is the bytes of input 0 under another type (reshape). It is not in the order of a plan. */
  int32_t alias;
  /* Element-wise ops: what the op computes for one element, in the language of
   * docs/element_language.md, with its parameters p0 to p3; else null. */
  const char* meaning;
  double params[4];
} plimsoll_node;

/* Nodes come after what they read. Constants are nodes "constant" with an attribute "value". */
typedef struct plimsoll_graph {
  uint32_t size;      /* sizeof(plimsoll_graph) where the engine was built */
  uint32_t node_size; /* sizeof(plimsoll_node) there: the step from one node to the next */
  uint32_t attr_size; /* the same of attributes */
  const plimsoll_type* values;
  const plimsoll_node* nodes;
  const int32_t* inputs; /* values */
  const int32_t* outputs;
  const int32_t* variables;
  int32_t value_count;
  int32_t node_count;
  int32_t input_count;
  int32_t output_count;
  int32_t variable_count;
  int32_t update_count; /* variables that a run writes */
} plimsoll_graph;

/* Where the bytes of a value are. */
enum {
  PLIMSOLL_PLACE_NONE = 0,     /* nobody reads it, or it has no bytes */
  PLIMSOLL_PLACE_ARENA = 1,    /* at: offset in bytes */
  PLIMSOLL_PLACE_INPUT = 2,    /* at: index in the list of the graph */
  PLIMSOLL_PLACE_VARIABLE = 3, /* the same */
  PLIMSOLL_PLACE_CONSTANT = 4, /* at: the node */
  PLIMSOLL_PLACE_OUTPUT = 5    /* at: index in the list of the graph */
};
typedef struct plimsoll_place {
  int32_t kind;
  int64_t at;
} plimsoll_place;

/* After the last node: `bytes` bytes go from one place to the other, one copy after the other. */
typedef struct plimsoll_place_copy {
  plimsoll_place from;
  plimsoll_place to;
  int64_t bytes;
} plimsoll_place_copy;

typedef struct plimsoll_plan {
  uint32_t size;
  int32_t order_count;
  const int32_t* order;         /* the nodes that run; neither constants nor aliases are among them */
  const plimsoll_place* places; /* one per value */
  const int64_t* scratch;       /* one per node: its offset in the arena */
  const plimsoll_place_copy* copies;
  int32_t copy_count;
  int64_t arena_bytes;
  /* Where the constants are as long as the program lives: one per node, null slices for all others. */
  const plimsoll_slice* constants;
  /* As many bytes as program_kept() asked for, for as long as the program lives; a null slice if it gets
   * none: then it does without. */
  plimsoll_slice kept;
} plimsoll_plan;

/* Where the bytes are in this run. */
typedef struct plimsoll_run {
  uint32_t size;
  plimsoll_slice arena;
  const plimsoll_slice* inputs; /* one per input of the graph, and so on */
  const plimsoll_slice* outputs;
  const plimsoll_slice* variables;
  /* 1: variables and constants are what they were in the last run that went well; what was made of them
   * alone, and kept, still holds. */
  int32_t steady;
} plimsoll_run;

/* What a device can do with a node. */
enum {
  PLIMSOLL_FUSE_NO = 0,
  PLIMSOLL_FUSE_MAP = 1, /* as a member: element i of the output from element i of the inputs, broadcast */
  PLIMSOLL_FUSE_FOLD = 2 /* as the last member of a chain: a reduction of what the group computes */
};
typedef struct plimsoll_support {
  uint32_t size;
  int32_t runs; /* 1: it has code for the node */
  int32_t fuses;
  /* Bit i of in_place[k]: output k may lie in the bytes of input i, if nobody reads the input afterwards. At
   * most the first eight outputs and 64 inputs. */
  uint64_t in_place[8];
} plimsoll_support;

/* Limits of a device; what is 0 is as the engine likes. */
typedef struct plimsoll_limits {
  uint32_t size;
  int32_t fused_nodes;     /* most members of a "fused" node */
  int32_t fused_arguments; /* most inputs and outputs of one */
  int64_t alignment;       /* of places in the arena, in bytes, a power of two; 64 at least */
  /* 1: small nodes of one kind that follow each other run as one. The engine then casts weights at the
   * beginning and updates small variables at the end, unless that costs much memory. */
  int32_t joins;
} plimsoll_limits;

/* Functions that return a pointer return null on failure, others an error kind. Texts are cut to `size`
 * bytes, the zero byte included. What is passed in is valid during the call only, unless said otherwise. */
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
  int32_t (*device_limits)(plimsoll_device* device, plimsoll_limits* limits, plimsoll_error* error);

  plimsoll_buffer* (*buffer_allocate)(plimsoll_device* device, int64_t bytes, plimsoll_error* error);
  /* The engine has waited for all work on it; on a device that is lost, nobody has. The same holds for
   * program_destroy() and host_free(). */
  void (*buffer_free)(plimsoll_device* device, plimsoll_buffer* buffer);

  plimsoll_stream* (*stream_create)(plimsoll_device* device, plimsoll_error* error);
  void (*stream_destroy)(plimsoll_stream* stream);
  /* Waits for everything queued; reports the first failure since the last sync and forgets it. */
  int32_t (*stream_sync)(plimsoll_stream* stream, plimsoll_error* error);
  /* Host bytes live until the stream has passed the copy. */
  int32_t (*copy_to_device)(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                            plimsoll_error* error);
  int32_t (*copy_to_host)(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes,
                          plimsoll_error* error);

  plimsoll_event* (*event_create)(plimsoll_device* device, plimsoll_error* error);
  void (*event_destroy)(plimsoll_event* event);
  int32_t (*event_record)(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);
  /* Work queued on the stream from now on waits for the event as it was recorded last. */
  int32_t (*event_wait)(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error);
  /* The caller waits. */
  int32_t (*event_sync)(plimsoll_event* event, plimsoll_error* error);

  /* What the device can do with a node of this graph. Cheap: it is asked for every node, several times, and
   * prepares nothing. The graph holds the node and its values, perhaps nothing else. */
  int32_t (*support)(plimsoll_device* device, const plimsoll_graph* graph, int32_t node,
                     plimsoll_support* support, plimsoll_error* error);

  /* Makes a graph ready; scratch[n] is to be set to the bytes that node n needs when it runs (0 before).
   * PLIMSOLL_UNSUPPORTED with the node if there is one it cannot run after all. */
  plimsoll_program* (*program_compile)(plimsoll_device* device, const plimsoll_graph* graph, int64_t* scratch,
                                       plimsoll_error* error);
  void (*program_destroy)(plimsoll_program* program);
  /* Called once, before the first run. */
  int32_t (*program_plan)(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error);
  /* Queues a run. Allocates nothing. */
  int32_t (*program_run)(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                         plimsoll_error* error);
  /* What runs a node, for reports: "cublas sgemm 128x64". */
  int32_t (*program_kernel_name)(plimsoll_program* program, int32_t node, char* text, size_t size,
                                 plimsoll_error* error);
  /* (may be null) Runs it at once and adds the seconds each node took to seconds[node]. */
  int32_t (*program_profile)(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                             double* seconds, plimsoll_error* error);

  /* (may be null) Bytes of the host that the device copies from and to without waiting: page-locked. */
  void* (*host_allocate)(plimsoll_device* device, int64_t bytes, plimsoll_error* error);
  void (*host_free)(plimsoll_device* device, void* bytes);

  /* (may be null) Bytes in which the program would keep what depends on variables and constants alone, such
   * as weights in the layout of its kernels, from run to run. Called before program_plan(). */
  int64_t (*program_kept)(plimsoll_program* program);
} plimsoll_device_table;

/* The one symbol of a plug-in. `major` is the engine's; null if the plug-in cannot serve it. The table lives
 * as long as the library. */
typedef const plimsoll_device_table* (*plimsoll_device_plugin_fn)(uint16_t major);
#define PLIMSOLL_DEVICE_PLUGIN_SYMBOL "plimsoll_device_plugin"

#ifdef __cplusplus
}
#endif

#endif

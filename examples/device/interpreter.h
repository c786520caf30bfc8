/* What the files of the interpreter share. A program is run by going through its nodes and calling, for each,
 * the C function of its op (find_op). Values are tensors of elements that are read and written one by one
 * (element.h). */
#ifndef INTERPRETER_H
#define INTERPRETER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "plimsoll/device.h"

enum { MAX_RANK = 8 };

/* Fills in `error` and returns its kind. */
int32_t report(plimsoll_error* error, int32_t kind, const char* message);

/* ---- device.c: what the device is asked to be, what it has done, and its memory. */

/* From the environment variable PLIMSOLL_INTERPRETER, a list such as "no_in_place,fuse,memory=1000000". */
typedef struct options {
  int no_in_place;      /* no output may lie in the bytes of an input */
  int fuse;             /* element-wise ops become members of "fused" nodes */
  int fuse_folds;       /* and reductions their last members */
  int library;          /* it has the ops of library.c too */
  int64_t fail_at;      /* the node of this number, from 1, counted over all runs, fails; 0: none */
  int64_t lose_at;      /* at this node the device is lost */
  int64_t memory;       /* bytes the device has */
  int64_t slow;         /* microseconds that each node sleeps before it runs */
  int64_t await_copies; /* the first node ends only when so many copies are done; after a minute it fails */
  /* Of plimsoll_limits; what goes beyond is refused. */
  int64_t alignment, fused_nodes, fused_arguments;
  int joins; /* of plimsoll_limits: it only says so, to see how the engine then orders nodes */
} options;

typedef struct counters {
  int64_t copies_in, bytes_in; /* from the host to the device */
  int64_t copies_out, bytes_out;
  int64_t runs;   /* of programs */
  int64_t nodes;  /* run, those of sub-programs too */
  int64_t copied; /* copies that are done, in both directions */
} counters;

struct plimsoll_device {
  options options;
  pthread_mutex_t lock; /* of what follows */
  counters counters;
  int64_t used; /* bytes of buffers */
  int lost;
  pthread_cond_t copy_done;
  pthread_mutex_t
      copying; /* held while bytes are copied: they are not freed meanwhile, even if the device is lost */
};

/* The host never sees `data`: a device's memory is its own. */
struct plimsoll_buffer {
  int64_t bytes;
  char* data;
};

/* An error if the device is lost. */
int32_t require_device(plimsoll_device* device, plimsoll_error* error);
/* Counts a node that is about to run; an error if it is the one that options say fails. */
int32_t count_node(plimsoll_device* device, plimsoll_error* error);
/* A copy is done. */
void count_copy(plimsoll_device* device);

/* ---- program.c */

/* A value in a run: its type, and its bytes in the device's memory. */
typedef struct tensor {
  int32_t dtype;
  int32_t rank;
  int64_t sizes[MAX_RANK];
  int64_t count; /* of elements */
  char* data;
} tensor;

tensor tensor_of(const plimsoll_type* type); /* without bytes */
int64_t tensor_bytes(const tensor* t);

/* A node about to run. */
typedef struct call {
  const plimsoll_node* node;
  tensor* values; /* of its graph */
  char* scratch;
  plimsoll_error* error; /* to fill in if it fails */
} call;

static inline const tensor* input(const call* c, int32_t i) { return &c->values[c->node->inputs[i]]; }
static inline const tensor* output(const call* c, int32_t i) { return &c->values[c->node->outputs[i]]; }

/* Whether an output may lie in the bytes of an input. */
enum overlap {
  OVERLAP_NONE,
  OVERLAP_SAME_SIZE, /* any input with the shape of the output and elements of the same size */
  OVERLAP_FIRST      /* input 0 */
};

/* How an op runs here. */
typedef struct op {
  const char* name;
  void (*run)(const call* c);
  /* Bytes of scratch that a node needs; null: none. */
  int64_t (*scratch)(const call* c);
  enum overlap overlap;
  int32_t fuses; /* PLIMSOLL_FUSE_..., where options allow it */
  int moves;     /* it only moves elements, of whatever dtype; others know no complex ones */
} op;

/* How the node runs here; null if it cannot. */
const op* find_op(const plimsoll_device* device, const plimsoll_graph* graph, const plimsoll_node* node);

/* Where the bytes of one run are. */
typedef struct frame {
  char* arena;
  char** inputs;
  char** outputs;
  char** variables;
  double* seconds; /* one per node, to add to; null: nobody measures */
  int busy;
} frame;

enum { FRAMES = 2 };

struct plimsoll_program {
  plimsoll_device* device;
  struct pool* memory; /* of all that follows */
  const plimsoll_graph* graph;
  const op** ops; /* one per node */
  tensor* values;
  plimsoll_plan plan;
  char** constants;     /* one per node; null for all others */
  frame frames[FRAMES]; /* of runs that are queued */
  pthread_mutex_t lock;
  pthread_cond_t freed; /* a frame is */
  pthread_mutex_t running;
};

/* Runs a program here and now. */
int32_t run_frame(plimsoll_program* program, const frame* f, plimsoll_error* error);
/* A frame that no queued run uses, waiting for one. */
frame* take_frame(plimsoll_program* program);
void free_frame(plimsoll_program* program, frame* f);
/* Returns when no run is queued. */
void wait_for_frames(plimsoll_program* program);

/* ---- compile.c, support.c, graph_copy.c, fused.c */

/* Memory that is freed as a whole. */
typedef struct pool pool;
pool* pool_create(void);                /* null if there is no memory */
void pool_destroy(pool* p);             /* p may be null */
void* pool_take(pool* p, size_t bytes); /* zeros, or null */
void* pool_copy(pool* p, const void* from, size_t bytes);

/* A copy that lives as long as the pool, with what it points to, except for the bytes of tensors and for
 * graphs in attributes, which are null there; null if there is no memory. */
plimsoll_graph* copy_graph(pool* p, const plimsoll_graph* from);
/* A node of a graph of the engine, and an attribute of it or null. The structs of a newer engine may be
 * larger than ours, those of an older one smaller: the graph says how far apart they are. */
plimsoll_node node_at(const plimsoll_graph* graph, int32_t i);
const plimsoll_attr* given_attr(const plimsoll_graph* graph, const plimsoll_node* node, const char* name);

/* Compiles the body of a "fused" node and plans it: every value has its place in the scratch of the node. */
plimsoll_program* compile_body(plimsoll_device* device, const plimsoll_graph* body, plimsoll_error* error);
/* Copies a plan into the program. */
int32_t keep_plan(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error);
/* Copies that may be of nothing, from or to nowhere. */
void copy_bytes(void* to, const void* from, int64_t bytes);

/* ---- attributes.c: the attribute of this name. Nodes have been checked before they come here. */

const plimsoll_attr* attr(const plimsoll_node* node, const char* name);
int64_t attr_int(const plimsoll_node* node, const char* name);
double attr_real(const plimsoll_node* node, const char* name);
const char* attr_string(const plimsoll_node* node, const char* name);
/* Element i of a list; `fallback` if the list is empty. */
int64_t attr_item(const plimsoll_node* node, const char* name, int32_t i, int64_t fallback);
int32_t attr_count(const plimsoll_node* node, const char* name);
/* An axis from 0 on: -1 is the last one. */
int32_t axis_of(int64_t axis, int32_t rank);

/* ---- stream.c */

/* Runs the program later, then frees the frame. */
int32_t queue_run(plimsoll_stream* stream, plimsoll_program* program, frame* f, plimsoll_error* error);

/* ---- The ops, by subject; each list ends with a name that is null. */

extern const op function_op; /* of all functions of functions.h */

extern const op elementwise_ops[], move_ops[], index_ops[], reduce_ops[], window_ops[], contract_ops[],
    conv_ops[], random_ops[], sort_ops[], fourier_ops[], control_ops[], library_ops[];
/* Whether library.c knows the attributes of this node of the engine. */
int library_knows(const plimsoll_graph* graph, const plimsoll_node* node);

#endif

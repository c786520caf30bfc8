/* A program: the copy of a graph, the function of each node, and the plan. */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "element.h"

tensor tensor_of(const plimsoll_type* type) {
  tensor t;
  memset(&t, 0, sizeof t);
  t.dtype = type->dtype;
  t.rank = type->rank;
  t.count = 1;
  for (int32_t i = 0; i < type->rank; ++i) {
    t.sizes[i] = type->sizes[i];
    t.count *= type->sizes[i];
  }
  return t;
}
int64_t tensor_bytes(const tensor* t) { return t->count * dtype_size(t->dtype); }

static int runs_nothing(const plimsoll_node* node) {
  return node->alias || strcmp(node->op, "constant") == 0;
}

static int is_too_large(const plimsoll_device* device, const plimsoll_graph* body) {
  const options* most = &device->options;
  int32_t members = 0;
  for (int32_t i = 0; i < body->node_count; ++i) {
    const plimsoll_node node = node_at(body, i);
    members += !runs_nothing(&node);
  }
  return (most->fused_nodes > 0 && members > most->fused_nodes) ||
         (most->fused_arguments > 0 && body->input_count + body->output_count > most->fused_arguments);
}

/* Puts the compiled body of a "fused" node where other nodes have the program of their sub-graph. */
static int32_t compile_fused(plimsoll_program* program, int32_t node, const plimsoll_graph* body,
                             plimsoll_error* error) {
  plimsoll_attr* mine = (plimsoll_attr*)attr(&program->graph->nodes[node], "body");
  if (is_too_large(program->device, body))
    return report(error, PLIMSOLL_INTERNAL, "a fused body is too large");
  mine->program = compile_body(program->device, body, error);
  if (mine->program == NULL) {
    error->node = node; /* not that of the body */
    return error->kind;
  }
  mine->arena_bytes = mine->program->plan.arena_bytes;
  return PLIMSOLL_OK;
}

static int is_fused(const plimsoll_node* node) { return strcmp(node->op, "fused") == 0; }

static int32_t prepare_node(plimsoll_program* program, const plimsoll_graph* graph, int32_t i,
                            int64_t* scratch, plimsoll_error* error) {
  const plimsoll_node given = node_at(graph, i);
  const call c = {&program->graph->nodes[i], program->values, NULL, error};
  if (runs_nothing(&given)) return PLIMSOLL_OK;
  error->node = i; /* in case of a failure */
  program->ops[i] = find_op(program->device, graph, &given);
  if (program->ops[i] == NULL)
    return report(error, PLIMSOLL_UNSUPPORTED, "the interpreter has no code for this op and these types");
  if (is_fused(&given) &&
      compile_fused(program, i, given_attr(graph, &given, "body")->graph, error) != PLIMSOLL_OK)
    return error->kind;
  if (program->ops[i]->scratch != NULL) scratch[i] = program->ops[i]->scratch(&c);
  return PLIMSOLL_OK;
}

/* The lists of pointers of a run, made now because a run allocates nothing. */
static int make_frame(pool* p, const plimsoll_graph* g, frame* f) {
  f->inputs = pool_take(p, (size_t)g->input_count * sizeof(char*));
  f->outputs = pool_take(p, (size_t)g->output_count * sizeof(char*));
  f->variables = pool_take(p, (size_t)g->variable_count * sizeof(char*));
  return f->inputs != NULL && f->outputs != NULL && f->variables != NULL;
}

static int make_parts(plimsoll_program* program, const plimsoll_graph* graph) {
  pool* p = program->memory;
  int ok = (program->graph = copy_graph(p, graph)) != NULL;
  program->ops = pool_take(p, (size_t)graph->node_count * sizeof *program->ops);
  program->constants = pool_take(p, (size_t)graph->node_count * sizeof *program->constants);
  program->values = pool_take(p, (size_t)graph->value_count * sizeof *program->values);
  ok = ok && program->ops != NULL && program->constants != NULL && program->values != NULL;
  for (int i = 0; ok && i < FRAMES; ++i) ok = make_frame(p, graph, &program->frames[i]);
  for (int32_t i = 0; ok && i < graph->value_count; ++i) program->values[i] = tensor_of(&graph->values[i]);
  return ok;
}

plimsoll_program* program_compile(plimsoll_device* device, const plimsoll_graph* graph, int64_t* scratch,
                                  plimsoll_error* error) {
  pool* memory = pool_create();
  plimsoll_program* program = memory != NULL ? pool_take(memory, sizeof *program) : NULL;
  if (program == NULL) {
    pool_destroy(memory);
    report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a program");
    return NULL;
  }
  program->device = device;
  program->memory = memory;
  pthread_mutex_init(&program->lock, NULL);
  pthread_cond_init(&program->freed, NULL);
  pthread_mutex_init(&program->running, NULL);
  int32_t kind = make_parts(program, graph)
                     ? PLIMSOLL_OK
                     : report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a program");
  for (int32_t i = 0; kind == PLIMSOLL_OK && i < graph->node_count; ++i)
    kind = prepare_node(program, graph, i, scratch, error);
  if (kind == PLIMSOLL_OK) return program;
  program_destroy(program);
  return NULL;
}

void program_destroy(plimsoll_program* program) {
  wait_for_frames(program);
  for (int32_t i = 0; program->graph != NULL && i < program->graph->node_count; ++i) {
    const plimsoll_node* node = &program->graph->nodes[i];
    if (is_fused(node) && attr(node, "body")->program != NULL) program_destroy(attr(node, "body")->program);
  }
  pthread_mutex_destroy(&program->running);
  pthread_cond_destroy(&program->freed);
  pthread_mutex_destroy(&program->lock);
  pool_destroy(program->memory); /* with the program itself */
}

/* Whether all places in the arena are where the device wants them. */
static int is_aligned(const plimsoll_program* program, const plimsoll_plan* plan) {
  const int64_t step = program->device->options.alignment;
  for (int32_t i = 0; step > 0 && i < program->graph->value_count; ++i) {
    if (plan->places[i].kind == PLIMSOLL_PLACE_ARENA && plan->places[i].at % step != 0) return 0;
  }
  for (int32_t i = 0; step > 0 && i < program->graph->node_count; ++i) {
    if (plan->scratch[i] % step != 0) return 0;
  }
  return 1;
}

int32_t program_plan(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error) {
  if (!is_aligned(program, plan)) return report(error, PLIMSOLL_INTERNAL, "a place is not aligned");
  return keep_plan(program, plan, error);
}

int32_t keep_plan(plimsoll_program* program, const plimsoll_plan* plan, plimsoll_error* error) {
  const plimsoll_graph* g = program->graph;
  plimsoll_plan* own = &program->plan;
  pool* p = program->memory;
  own->order_count = plan->order_count;
  own->copy_count = plan->copy_count;
  own->arena_bytes = plan->arena_bytes;
  own->order = pool_copy(p, plan->order, (size_t)plan->order_count * sizeof *plan->order);
  own->places = pool_copy(p, plan->places, (size_t)g->value_count * sizeof *plan->places);
  own->scratch = pool_copy(p, plan->scratch, (size_t)g->node_count * sizeof *plan->scratch);
  own->copies = pool_copy(p, plan->copies, (size_t)plan->copy_count * sizeof *plan->copies);
  if (own->order == NULL || own->places == NULL || own->scratch == NULL || own->copies == NULL)
    return report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a plan");
  for (int32_t i = 0; plan->constants != NULL && i < g->node_count; ++i) {
    const plimsoll_slice s = plan->constants[i];
    if (s.buffer != NULL) program->constants[i] = s.buffer->data + s.offset;
  }
  return PLIMSOLL_OK;
}

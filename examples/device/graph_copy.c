/* A graph is only there while the engine calls: what a program needs of it later is copied. */
#include <stdlib.h>
#include <string.h>

#include "interpreter.h"

/* ---- memory that is freed as a whole */

typedef struct block {
  struct block* next;
  max_align_t bytes[];
} block;
struct pool {
  block* blocks;
};

pool* pool_create(void) { return calloc(1, sizeof(pool)); }

void pool_destroy(pool* p) {
  while (p != NULL && p->blocks != NULL) {
    block* next = p->blocks->next;
    free(p->blocks);
    p->blocks = next;
  }
  free(p);
}

void* pool_take(pool* p, size_t bytes) {
  block* b = calloc(1, sizeof(block) + bytes);
  if (b == NULL) return NULL;
  b->next = p->blocks;
  p->blocks = b;
  return b->bytes;
}

void* pool_copy(pool* p, const void* from, size_t bytes) {
  void* to = pool_take(p, bytes);
  if (to != NULL) copy_bytes(to, from, (int64_t)bytes);
  return to;
}

void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) memmove(to, from, (size_t)bytes);
}

/* ---- graphs. Each function returns whether there was memory for all of it. */

static int copy_text(pool* p, const char** text) {
  if (*text != NULL) *text = pool_copy(p, *text, strlen(*text) + 1);
  return *text != NULL;
}

static int copy_list(pool* p, const int32_t** list, int32_t count) {
  *list = pool_copy(p, *list, (size_t)count * sizeof **list);
  return *list != NULL;
}

static int copy_type(pool* p, plimsoll_type* type) {
  type->sizes = pool_copy(p, type->sizes, (size_t)type->rank * sizeof *type->sizes);
  return type->sizes != NULL;
}

static int copy_attr(pool* p, plimsoll_attr* a) {
  a->graph = NULL;
  a->data = NULL;
  a->type.sizes = NULL;
  if (a->kind == PLIMSOLL_ATTR_INTS) {
    a->ints = pool_copy(p, a->ints, (size_t)a->count * sizeof *a->ints);
    if (a->ints == NULL) return 0;
  }
  return copy_text(p, &a->name) && (a->kind != PLIMSOLL_ATTR_STRING || copy_text(p, &a->string));
}

/* What is known here of a struct that may be larger or smaller there. */
static void copy_known(void* to, size_t size, const void* from, size_t given) {
  memset(to, 0, size);
  memcpy(to, from, given < size ? given : size);
}

static const plimsoll_attr* attr_at(const plimsoll_graph* graph, const plimsoll_node* node, int32_t i) {
  return (const plimsoll_attr*)((const char*)node->attrs + (size_t)i * graph->attr_size);
}

const plimsoll_attr* given_attr(const plimsoll_graph* graph, const plimsoll_node* node, const char* name) {
  for (int32_t i = 0; i < node->attr_count; ++i) {
    if (strcmp(attr_at(graph, node, i)->name, name) == 0) return attr_at(graph, node, i);
  }
  return NULL;
}

plimsoll_node node_at(const plimsoll_graph* graph, int32_t i) {
  plimsoll_node node;
  copy_known(&node, sizeof node, (const char*)graph->nodes + (size_t)i * graph->node_size, graph->node_size);
  return node;
}

static int copy_node(pool* p, const plimsoll_graph* from, plimsoll_node* n) {
  plimsoll_attr* attrs = pool_take(p, (size_t)n->attr_count * sizeof *attrs);
  int ok = attrs != NULL && copy_text(p, &n->op) && copy_list(p, &n->inputs, n->input_count) &&
           copy_list(p, &n->outputs, n->output_count);
  for (int32_t i = 0; ok && i < n->attr_count; ++i) {
    copy_known(&attrs[i], sizeof *attrs, attr_at(from, n, i), from->attr_size);
    ok = copy_attr(p, &attrs[i]);
  }
  n->attrs = attrs;
  n->layer = NULL; /* the engine names it */
  n->meaning = NULL;
  return ok;
}

plimsoll_graph* copy_graph(pool* p, const plimsoll_graph* from) {
  plimsoll_graph* to = pool_take(p, sizeof *to);
  plimsoll_type* values = pool_copy(p, from->values, (size_t)from->value_count * sizeof *values);
  plimsoll_node* nodes = pool_take(p, (size_t)from->node_count * sizeof *nodes);
  int ok = to != NULL && values != NULL && nodes != NULL;
  for (int32_t i = 0; ok && i < from->value_count; ++i) ok = copy_type(p, &values[i]);
  for (int32_t i = 0; ok && i < from->node_count; ++i) {
    nodes[i] = node_at(from, i);
    ok = copy_node(p, from, &nodes[i]);
  }
  if (!ok) return NULL;
  copy_known(to, sizeof *to, from, from->size);
  to->node_size = sizeof *nodes;
  to->attr_size = sizeof(plimsoll_attr);
  to->values = values;
  to->nodes = nodes;
  ok = copy_list(p, &to->inputs, to->input_count) && copy_list(p, &to->outputs, to->output_count) &&
       copy_list(p, &to->variables, to->variable_count);
  return ok ? to : NULL;
}

/* What the device can do, asked before anything is compiled. */
#include <string.h>

#include "device.h"
#include "element.h"
#include "functions.h"

static const op* find_in(const op* list, const char* name) {
  while (list->name != NULL && strcmp(list->name, name) != 0) ++list;
  return list->name != NULL ? list : NULL;
}

static const op* op_of(const plimsoll_device* device, const plimsoll_graph* graph,
                       const plimsoll_node* node) {
  static const op* const lists[] = {elementwise_ops, move_ops,     index_ops,  reduce_ops,
                                    window_ops,      contract_ops, conv_ops,   random_ops,
                                    sort_ops,        fourier_ops,  control_ops};
  const op* found = find_function(node->op) != NULL ? &function_op : NULL;
  for (size_t i = 0; found == NULL && i < sizeof lists / sizeof *lists; ++i)
    found = find_in(lists[i], node->op);
  if (found == NULL && device->options.library && library_knows(graph, node))
    found = find_in(library_ops, node->op);
  return found;
}

/* Some functions are for floats or for integers alone, and only movements know complex numbers. */
static int knows_types(const op* o, const plimsoll_graph* graph, const plimsoll_node* node) {
  const function* f = find_function(node->op);
  for (int32_t i = 0; i < node->input_count; ++i) {
    const int32_t dtype = graph->values[node->inputs[i]].dtype;
    if (is_complex(dtype) ? !o->moves : f != NULL && (is_float(dtype) ? !f->real : !f->integer)) return 0;
  }
  return 1;
}

const op* find_op(const plimsoll_device* device, const plimsoll_graph* graph, const plimsoll_node* node) {
  const op* o = op_of(device, graph, node);
  return o != NULL && knows_types(o, graph, node) ? o : NULL;
}

static int same_shape(const plimsoll_type* a, const plimsoll_type* b) {
  int same = a->rank == b->rank && dtype_size(a->dtype) == dtype_size(b->dtype);
  for (int32_t i = 0; same && i < a->rank; ++i) same = a->sizes[i] == b->sizes[i];
  return same;
}

static uint64_t inputs_to_overwrite(const op* o, const plimsoll_graph* graph, const plimsoll_node* node,
                                    int32_t output) {
  const plimsoll_type* out = &graph->values[node->outputs[output]];
  uint64_t mask = 0;
  for (int32_t i = 0; i < node->input_count && i < 64; ++i) {
    const int fits = same_shape(out, &graph->values[node->inputs[i]]);
    if (fits && (o->overlap == OVERLAP_SAME_SIZE || (o->overlap == OVERLAP_FIRST && i == 0)))
      mask |= (uint64_t)1 << i;
  }
  return mask;
}

int32_t support(plimsoll_device* device, const plimsoll_graph* graph, int32_t node, plimsoll_support* support,
                plimsoll_error* error) {
  const plimsoll_node n = node_at(graph, node);
  const op* o = find_op(device, graph, &n);
  const options* wanted = &device->options;
  (void)error;
  if (o == NULL) return PLIMSOLL_OK; /* zeros: it can do nothing with it */
  support->runs = 1;
  if ((o->fuses == PLIMSOLL_FUSE_MAP && wanted->fuse) ||
      (o->fuses == PLIMSOLL_FUSE_FOLD && wanted->fuse_folds))
    support->fuses = o->fuses;
  for (int32_t i = 0; !wanted->no_in_place && i < n.output_count && i < 8; ++i)
    support->in_place[i] = inputs_to_overwrite(o, graph, &n, i);
  return PLIMSOLL_OK;
}

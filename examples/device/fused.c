/* The body of a "fused" node. A device that compiles would make one kernel of it; the interpreter runs it as
 * a program of its own, with every value in the scratch of the node. */
#include <stdlib.h>

#include "device.h"
#include "element.h"

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* Constants are part of the code here: the engine places none for a body. */
static int keep_constants(plimsoll_program* program, const plimsoll_graph* body, plimsoll_place* places) {
  for (int32_t i = 0; i < body->node_count; ++i) {
    const plimsoll_node node = node_at(body, i);
    const plimsoll_attr* value =
        program->ops[i] == NULL && !node.alias ? given_attr(body, &node, "value") : NULL;
    if (value == NULL) continue;
    const tensor t = tensor_of(&value->type);
    program->constants[i] = pool_copy(program->memory, value->data, (size_t)tensor_bytes(&t));
    if (program->constants[i] == NULL) return 0;
    places[node.outputs[0]] = (plimsoll_place){PLIMSOLL_PLACE_CONSTANT, i};
  }
  return 1;
}

/* Inputs where they are, everything else side by side in the arena. */
static void place_values(plimsoll_program* program, const int64_t* scratch, plimsoll_place* places,
                         plimsoll_plan* plan, int32_t* order, int64_t* scratch_at) {
  const plimsoll_graph* g = program->graph;
  for (int32_t i = 0; i < g->input_count; ++i)
    places[g->inputs[i]] = (plimsoll_place){PLIMSOLL_PLACE_INPUT, i};
  for (int32_t i = 0; i < g->node_count; ++i) {
    const plimsoll_node* node = &g->nodes[i];
    if (node->alias) places[node->outputs[0]] = places[node->inputs[0]];
    if (program->ops[i] == NULL) continue;
    for (int32_t k = 0; k < node->output_count; ++k) {
      places[node->outputs[k]] = (plimsoll_place){PLIMSOLL_PLACE_ARENA, plan->arena_bytes};
      plan->arena_bytes += aligned(tensor_bytes(&program->values[node->outputs[k]]));
    }
    scratch_at[i] = plan->arena_bytes;
    plan->arena_bytes += aligned(scratch[i]);
    order[plan->order_count++] = i;
  }
}

/* Outputs are written last, and those that are inputs are kept aside before that: an output may lie in the
 * bytes of an input. */
static void copy_outputs(const plimsoll_program* program, plimsoll_plan* plan, plimsoll_place_copy* copies) {
  const plimsoll_graph* g = program->graph;
  for (int32_t i = 0; i < g->output_count; ++i) {
    const int64_t bytes = tensor_bytes(&program->values[g->outputs[i]]);
    const plimsoll_place kept = {PLIMSOLL_PLACE_ARENA, plan->arena_bytes};
    copies[i] = (plimsoll_place_copy){plan->places[g->outputs[i]], kept, bytes};
    copies[g->output_count + i] = (plimsoll_place_copy){kept, {PLIMSOLL_PLACE_OUTPUT, i}, bytes};
    plan->arena_bytes += aligned(bytes);
  }
  plan->copy_count = 2 * g->output_count;
}

static int32_t plan_body(plimsoll_program* program, const plimsoll_graph* body, const int64_t* scratch,
                         plimsoll_error* error) {
  const plimsoll_graph* g = program->graph;
  pool* p = program->memory;
  plimsoll_place* places = pool_take(p, (size_t)g->value_count * sizeof *places);
  plimsoll_place_copy* copies = pool_take(p, 2 * (size_t)g->output_count * sizeof *copies);
  int32_t* order = pool_take(p, (size_t)g->node_count * sizeof *order);
  int64_t* scratch_at = pool_take(p, (size_t)g->node_count * sizeof *scratch_at);
  plimsoll_plan plan = {
      .size = sizeof plan, .order = order, .places = places, .scratch = scratch_at, .copies = copies};
  if (places == NULL || copies == NULL || order == NULL || scratch_at == NULL ||
      !keep_constants(program, body, places))
    return report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a fused body");
  place_values(program, scratch, places, &plan, order, scratch_at);
  copy_outputs(program, &plan, copies);
  return keep_plan(program, &plan, error);
}

plimsoll_program* compile_body(plimsoll_device* device, const plimsoll_graph* body, plimsoll_error* error) {
  int64_t* scratch = calloc((size_t)body->node_count + 1, sizeof *scratch);
  plimsoll_program* program = scratch != NULL ? program_compile(device, body, scratch, error) : NULL;
  if (program != NULL && plan_body(program, body, scratch, error) != PLIMSOLL_OK) {
    program_destroy(program);
    program = NULL;
  }
  if (scratch == NULL) report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a fused body");
  free(scratch);
  return program;
}

/* Runs: the nodes of a plan, one after the other. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "device.h"

static char* resolve(const plimsoll_program* program, const frame* f, plimsoll_place place) {
  switch (place.kind) {
    case PLIMSOLL_PLACE_ARENA: return f->arena + place.at;
    case PLIMSOLL_PLACE_INPUT: return f->inputs[place.at];
    case PLIMSOLL_PLACE_VARIABLE: return f->variables[place.at];
    case PLIMSOLL_PLACE_CONSTANT: return program->constants[place.at];
    case PLIMSOLL_PLACE_OUTPUT: return f->outputs[place.at];
    default: return NULL;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(int64_t microseconds) {
  const struct timespec t = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&t, NULL);
}

static int32_t run_node(plimsoll_program* program, const frame* f, int32_t node, plimsoll_error* error) {
  const call c = {&program->graph->nodes[node], program->values, f->arena + program->plan.scratch[node],
                  error};
  const double begin = f->seconds != NULL ? now() : 0;
  if (program->device->options.slow > 0) sleep_for(program->device->options.slow);
  if (count_node(program->device, error) == PLIMSOLL_OK) program->ops[node]->run(&c);
  if (f->seconds != NULL) f->seconds[node] += now() - begin;
  if (error->kind != PLIMSOLL_OK && error->program == NULL) { /* an inner program has said where already */
    error->program = program;
    error->node = node;
  }
  return error->kind;
}

static int32_t run_plan(plimsoll_program* program, const frame* f, plimsoll_error* error) {
  const plimsoll_plan* plan = &program->plan;
  if (require_device(program->device, error) != PLIMSOLL_OK) return error->kind;
  for (int32_t v = 0; v < program->graph->value_count; ++v)
    program->values[v].data = resolve(program, f, plan->places[v]);
  for (int32_t i = 0; i < plan->order_count; ++i) {
    if (run_node(program, f, plan->order[i], error) != PLIMSOLL_OK) return error->kind;
  }
  for (int32_t i = 0; i < plan->copy_count; ++i) {
    const plimsoll_place_copy* c = &plan->copies[i];
    copy_bytes(resolve(program, f, c->to), resolve(program, f, c->from), c->bytes);
  }
  return PLIMSOLL_OK;
}

/* Values are in the program: one run of it at a time, on whatever stream. */
int32_t run_frame(plimsoll_program* program, const frame* f, plimsoll_error* error) {
  pthread_mutex_lock(&program->running);
  const int32_t kind = run_plan(program, f, error);
  pthread_mutex_unlock(&program->running);
  return kind;
}

frame* take_frame(plimsoll_program* program) {
  frame* f = NULL;
  pthread_mutex_lock(&program->lock);
  while (f == NULL) {
    for (int i = 0; f == NULL && i < FRAMES; ++i) {
      if (!program->frames[i].busy) f = &program->frames[i];
    }
    if (f == NULL) pthread_cond_wait(&program->freed, &program->lock);
  }
  f->busy = 1;
  pthread_mutex_unlock(&program->lock);
  return f;
}

void free_frame(plimsoll_program* program, frame* f) {
  pthread_mutex_lock(&program->lock);
  f->busy = 0;
  pthread_cond_broadcast(&program->freed);
  pthread_mutex_unlock(&program->lock);
}

void wait_for_frames(plimsoll_program* program) {
  pthread_mutex_lock(&program->lock);
  for (int i = 0; i < FRAMES; ++i) {
    while (program->frames[i].busy) pthread_cond_wait(&program->freed, &program->lock);
  }
  pthread_mutex_unlock(&program->lock);
}

static char* address(plimsoll_slice s) { return s.buffer != NULL ? s.buffer->data + s.offset : NULL; }

static int32_t queue_with(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                          double* seconds, plimsoll_error* error) {
  const plimsoll_graph* g = program->graph;
  if (require_device(program->device, error) != PLIMSOLL_OK) return error->kind;
  frame* f = take_frame(program);
  f->arena = address(run->arena);
  f->seconds = seconds;
  for (int32_t i = 0; i < g->input_count; ++i) f->inputs[i] = address(run->inputs[i]);
  for (int32_t i = 0; i < g->output_count; ++i) f->outputs[i] = address(run->outputs[i]);
  for (int32_t i = 0; i < g->variable_count; ++i) f->variables[i] = address(run->variables[i]);
  return queue_run(stream, program, f, error);
}

int32_t program_run(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                    plimsoll_error* error) {
  return queue_with(program, stream, run, NULL, error);
}

int32_t program_profile(plimsoll_program* program, plimsoll_stream* stream, const plimsoll_run* run,
                        double* seconds, plimsoll_error* error) {
  if (queue_with(program, stream, run, seconds, error) != PLIMSOLL_OK) return error->kind;
  return stream_sync(stream, error);
}

int32_t program_kernel_name(plimsoll_program* program, int32_t node, char* text, size_t size,
                            plimsoll_error* error) {
  (void)error;
  snprintf(text, size, "interpreted %s", program->graph->nodes[node].op);
  return PLIMSOLL_OK;
}

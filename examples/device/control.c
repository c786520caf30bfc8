/* Ops that run other programs: cond, while_loop, scan, and "fused", whose body fused.c has compiled. The
 * arena of the inner program is part of the node's scratch. */
#include <string.h>

#include "element.h"

static int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static plimsoll_program* program_of(const call* c, const char* name) { return attr(c->node, name)->program; }
static int64_t arena_of(const call* c, const char* name) { return aligned(attr(c->node, name)->arena_bytes); }

/* The frame of an inner program. Its node runs in one place at a time, so the first one is always free. */
static frame* inner_frame(plimsoll_program* inner, char* arena) {
  inner->frames[0].arena = arena;
  return &inner->frames[0];
}

/* Runs an inner program on all inputs of the node from number `first` on. */
static void run_whole(const call* c, const char* name, int32_t first) {
  plimsoll_program* inner = program_of(c, name);
  frame* f = inner_frame(inner, c->scratch);
  for (int32_t i = first; i < c->node->input_count; ++i) f->inputs[i - first] = input(c, i)->data;
  for (int32_t i = 0; i < c->node->output_count; ++i) f->outputs[i] = output(c, i)->data;
  run_frame(inner, f, c->error);
}

static void fused(const call* c) { run_whole(c, "body", 0); }
static int64_t fused_scratch(const call* c) { return arena_of(c, "body"); }

static void cond(const call* c) { run_whole(c, get_int(input(c, 0), 0) ? "if_true" : "if_false", 1); }
static int64_t cond_scratch(const call* c) {
  const int64_t yes = arena_of(c, "if_true"), no = arena_of(c, "if_false");
  return yes > no ? yes : no;
}

/* A loop keeps its state in two copies that take turns, so that a round never writes what it reads. */
static int64_t state_bytes(const call* c, int32_t count) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < count; ++i) bytes += aligned(tensor_bytes(output(c, i)));
  return bytes;
}
/* Points the first `count` outputs of an inner program at a copy of the state. */
static void write_state(const call* c, int32_t count, char* copy, frame* f) {
  for (int32_t i = 0; i < count; ++i) {
    f->outputs[i] = copy;
    copy += aligned(tensor_bytes(output(c, i)));
  }
}
static void read_state(int32_t count, const frame* from, frame* to) {
  for (int32_t i = 0; i < count; ++i) to->inputs[i] = from->outputs[i];
}
static void keep_state(const call* c, int32_t count, const frame* f) {
  for (int32_t i = 0; i < count; ++i)
    copy_bytes(output(c, i)->data, f->inputs[i], tensor_bytes(output(c, i)));
}

/* Scratch: the two copies of the state, 64 bytes for the outcome of the test, the arena of test or body. */
static int64_t while_scratch(const call* c) {
  const int64_t test = arena_of(c, "test"), body = arena_of(c, "body");
  return 2 * state_bytes(c, c->node->output_count) + 64 + (test > body ? test : body);
}
static void while_loop(const call* c) {
  const int32_t count = c->node->output_count;
  const int64_t state = state_bytes(c, count);
  char *flag = c->scratch + 2 * state, *arena = flag + 64;
  frame *test = inner_frame(program_of(c, "test"), arena), *body = inner_frame(program_of(c, "body"), arena);
  for (int32_t i = 0; i < c->node->input_count; ++i) test->inputs[i] = body->inputs[i] = input(c, i)->data;
  test->outputs[0] = flag;
  for (int turn = 0;; turn ^= 1) {
    if (run_frame(program_of(c, "test"), test, c->error) != PLIMSOLL_OK) return;
    if (!*flag) break;
    write_state(c, count, c->scratch + turn * state, body);
    if (run_frame(program_of(c, "body"), body, c->error) != PLIMSOLL_OK) return;
    read_state(count, body, test);
    read_state(count, body, body);
  }
  keep_state(c, count, body);
}

/* A row of a tensor along its first axis. */
static char* row(const tensor* t, int64_t i) {
  return t->count == 0 ? t->data : t->data + i * (tensor_bytes(t) / t->sizes[0]);
}

/* scan(carry..., xs..., captured...) -> carry..., ys..., and with "save" the carries before each round,
 * stacked. */
static int64_t scan_scratch(const call* c) {
  return 2 * state_bytes(c, (int32_t)attr_int(c->node, "carries")) + arena_of(c, "body");
}
static void scan(const call* c) {
  const int32_t carries = (int32_t)attr_int(c->node, "carries"), xs = (int32_t)attr_int(c->node, "xs");
  const int32_t saved = attr_int(c->node, "save") ? carries : 0, ys = c->node->output_count - carries - saved;
  const int64_t length = attr_int(c->node, "length"), state = state_bytes(c, carries);
  plimsoll_program* body = program_of(c, "body");
  frame* f = inner_frame(body, c->scratch + 2 * state);
  for (int32_t i = 0; i < c->node->input_count; ++i) f->inputs[i] = input(c, i)->data;
  for (int64_t round = 0; round < length; ++round) {
    const int64_t t = attr_int(c->node, "reverse") ? length - 1 - round : round;
    write_state(c, carries, c->scratch + (round & 1) * state, f);
    for (int32_t i = 0; i < xs; ++i) f->inputs[carries + i] = row(input(c, carries + i), t);
    for (int32_t i = 0; i < ys; ++i) f->outputs[carries + i] = row(output(c, carries + i), t);
    for (int32_t i = 0; i < saved; ++i)
      copy_bytes(row(output(c, carries + ys + i), t), f->inputs[i], tensor_bytes(output(c, i)));
    if (run_frame(body, f, c->error) != PLIMSOLL_OK) return;
    read_state(carries, f, f);
  }
  keep_state(c, carries, f);
}

const op control_ops[] = {
    {"fused", fused, fused_scratch, OVERLAP_SAME_SIZE, PLIMSOLL_FUSE_NO, 1},
    {"cond", cond, cond_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1},
    {"while_loop", while_loop, while_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1},
    {"scan", scan, scan_scratch, OVERLAP_NONE, PLIMSOLL_FUSE_NO, 1},
    {NULL, NULL, NULL, OVERLAP_NONE, 0, 0},
};

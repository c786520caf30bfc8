/* Streams: each has a thread that takes tasks from a queue, one after the other. What fails is kept until
 * stream_sync(). */
#include <stdlib.h>
#include <string.h>

#include "device.h"

struct plimsoll_event {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t recorded, passed; /* how often it was recorded, and which of these a stream has passed */
  int users;                 /* tasks in queues */
  int dead;                  /* destroyed: the last user frees it */
};

typedef struct task {
  enum { COPY, RUN, RECORD, WAIT } kind;
  void* to;
  const void* from;
  int64_t bytes;
  plimsoll_program* program;
  frame* frame;
  plimsoll_event* event;
  uint64_t ticket; /* which recording of the event */
} task;

enum { QUEUE = 64 }; /* who queues more waits for the stream */

struct plimsoll_stream {
  plimsoll_device* device;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  task tasks[QUEUE];
  int first, count; /* the first one is running */
  int ending;
  plimsoll_error late;
};

/* ---- events */

plimsoll_event* event_create(plimsoll_device* device, plimsoll_error* error) {
  plimsoll_event* event = calloc(1, sizeof *event);
  (void)device;
  if (event == NULL) {
    report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for an event");
    return NULL;
  }
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->changed, NULL);
  return event;
}

/* Unlocks the event, and frees it if nobody can reach it any more. */
static void leave_event(plimsoll_event* event) {
  const int last = event->dead && event->users == 0;
  pthread_mutex_unlock(&event->lock);
  if (!last) return;
  pthread_cond_destroy(&event->changed);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

void event_destroy(plimsoll_event* event) {
  pthread_mutex_lock(&event->lock);
  event->dead = 1;
  leave_event(event);
}

static void pass(plimsoll_event* event, uint64_t ticket) {
  pthread_mutex_lock(&event->lock);
  if (event->passed < ticket) event->passed = ticket;
  pthread_cond_broadcast(&event->changed);
  --event->users;
  leave_event(event);
}

static void wait_for(plimsoll_event* event, uint64_t ticket) {
  pthread_mutex_lock(&event->lock);
  while (event->passed < ticket) pthread_cond_wait(&event->changed, &event->lock);
  --event->users;
  leave_event(event);
}

/* ---- the thread of a stream */

/* What a lost device should have copied may be gone. */
static void copy(plimsoll_device* device, const task* t, plimsoll_error* error) {
  pthread_mutex_lock(&device->copying);
  if (require_device(device, error) == PLIMSOLL_OK) copy_bytes(t->to, t->from, t->bytes);
  pthread_mutex_unlock(&device->copying);
  count_copy(device);
}

static void perform(plimsoll_stream* stream, const task* t) {
  plimsoll_error error;
  memset(&error, 0, sizeof error);
  error.node = -1;
  switch (t->kind) {
    case COPY: copy(stream->device, t, &error); break;
    case RUN:
      run_frame(t->program, t->frame, &error);
      free_frame(t->program, t->frame);
      break;
    case RECORD: pass(t->event, t->ticket); break;
    case WAIT: wait_for(t->event, t->ticket); break;
  }
  pthread_mutex_lock(&stream->lock);
  if (stream->late.kind == PLIMSOLL_OK) stream->late = error;
  pthread_mutex_unlock(&stream->lock);
}

static void* work(void* argument) {
  plimsoll_stream* stream = argument;
  for (;;) {
    pthread_mutex_lock(&stream->lock);
    while (stream->count == 0 && !stream->ending) pthread_cond_wait(&stream->changed, &stream->lock);
    const int ending = stream->count == 0;
    const task next = stream->tasks[stream->first];
    pthread_mutex_unlock(&stream->lock);
    if (ending) return NULL;
    perform(stream, &next);
    pthread_mutex_lock(&stream->lock);
    stream->first = (stream->first + 1) % QUEUE;
    --stream->count;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
  }
}

static void queue(plimsoll_stream* stream, const task* t) {
  pthread_mutex_lock(&stream->lock);
  while (stream->count == QUEUE) pthread_cond_wait(&stream->changed, &stream->lock);
  stream->tasks[(stream->first + stream->count) % QUEUE] = *t;
  ++stream->count;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
}

/* ---- streams */

plimsoll_stream* stream_create(plimsoll_device* device, plimsoll_error* error) {
  plimsoll_stream* stream = calloc(1, sizeof *stream);
  if (stream == NULL) {
    report(error, PLIMSOLL_OUT_OF_MEMORY, "no memory for a stream");
    return NULL;
  }
  stream->device = device;
  pthread_mutex_init(&stream->lock, NULL);
  pthread_cond_init(&stream->changed, NULL);
  if (pthread_create(&stream->thread, NULL, work, stream) != 0) {
    free(stream);
    report(error, PLIMSOLL_DEVICE_ERROR, "no thread for a stream");
    return NULL;
  }
  return stream;
}

/* What is queued still runs. */
void stream_destroy(plimsoll_stream* stream) {
  pthread_mutex_lock(&stream->lock);
  stream->ending = 1;
  pthread_cond_broadcast(&stream->changed);
  pthread_mutex_unlock(&stream->lock);
  pthread_join(stream->thread, NULL);
  pthread_cond_destroy(&stream->changed);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
}

int32_t stream_sync(plimsoll_stream* stream, plimsoll_error* error) {
  pthread_mutex_lock(&stream->lock);
  while (stream->count > 0) pthread_cond_wait(&stream->changed, &stream->lock);
  const int32_t kind = stream->late.kind;
  if (kind != PLIMSOLL_OK) *error = stream->late;
  memset(&stream->late, 0, sizeof stream->late);
  pthread_mutex_unlock(&stream->lock);
  return kind != PLIMSOLL_OK ? kind : require_device(stream->device, error);
}

/* ---- what is queued */

static int32_t check_slice(plimsoll_stream* stream, plimsoll_slice s, int64_t bytes, plimsoll_error* error) {
  if (bytes < 0 || s.offset < 0 || s.offset > s.buffer->bytes || bytes > s.buffer->bytes - s.offset)
    return report(error, PLIMSOLL_INVALID_ARGUMENT, "a copy reaches outside its buffer");
  return require_device(stream->device, error);
}

int32_t copy_to_device(plimsoll_stream* stream, plimsoll_slice to, const void* from, int64_t bytes,
                       plimsoll_error* error) {
  if (check_slice(stream, to, bytes, error) != PLIMSOLL_OK) return error->kind;
  const task t = {COPY, to.buffer->data + to.offset, from, bytes, NULL, NULL, NULL, 0};
  pthread_mutex_lock(&stream->device->lock);
  ++stream->device->counters.copies_in;
  stream->device->counters.bytes_in += bytes;
  pthread_mutex_unlock(&stream->device->lock);
  queue(stream, &t);
  return PLIMSOLL_OK;
}

int32_t copy_to_host(plimsoll_stream* stream, void* to, plimsoll_slice from, int64_t bytes,
                     plimsoll_error* error) {
  if (check_slice(stream, from, bytes, error) != PLIMSOLL_OK) return error->kind;
  const task t = {COPY, to, from.buffer->data + from.offset, bytes, NULL, NULL, NULL, 0};
  pthread_mutex_lock(&stream->device->lock);
  ++stream->device->counters.copies_out;
  stream->device->counters.bytes_out += bytes;
  pthread_mutex_unlock(&stream->device->lock);
  queue(stream, &t);
  return PLIMSOLL_OK;
}

int32_t queue_run(plimsoll_stream* stream, plimsoll_program* program, frame* f, plimsoll_error* error) {
  const task t = {RUN, NULL, NULL, 0, program, f, NULL, 0};
  (void)error;
  pthread_mutex_lock(&stream->device->lock);
  ++stream->device->counters.runs;
  pthread_mutex_unlock(&stream->device->lock);
  queue(stream, &t);
  return PLIMSOLL_OK;
}

int32_t event_record(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error) {
  task t = {RECORD, NULL, NULL, 0, NULL, NULL, event, 0};
  (void)error;
  pthread_mutex_lock(&event->lock);
  ++event->users;
  t.ticket = ++event->recorded;
  pthread_mutex_unlock(&event->lock);
  queue(stream, &t);
  return PLIMSOLL_OK;
}

int32_t event_wait(plimsoll_event* event, plimsoll_stream* stream, plimsoll_error* error) {
  task t = {WAIT, NULL, NULL, 0, NULL, NULL, event, 0};
  (void)error;
  pthread_mutex_lock(&event->lock);
  ++event->users;
  t.ticket = event->recorded;
  pthread_mutex_unlock(&event->lock);
  queue(stream, &t);
  return PLIMSOLL_OK;
}

int32_t event_sync(plimsoll_event* event, plimsoll_error* error) {
  (void)error;
  pthread_mutex_lock(&event->lock);
  ++event->users;
  const uint64_t ticket = event->recorded;
  pthread_mutex_unlock(&event->lock);
  wait_for(event, ticket);
  return PLIMSOLL_OK;
}

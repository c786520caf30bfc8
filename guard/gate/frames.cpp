#include "guard/gate/frames.h"

#include <string.h>

#include "guard/gate/page.h"

namespace plimsoll::gate {

namespace {

constexpr int kMostTasks = 5;  // that wait for one another

bool is_frame(const Held& object) {
  return object && Held(g_python.type_of(object.object)).object == g_python.type_frame;
}

bool is_kernels_own(Object frame) {
  const Held code(g_python.code_of(frame));
  const Held file(g_python.attribute(code.object, "co_filename"));
  const char* path = file ? g_python.text_of(file.object) : nullptr;
  return path && ::strstr(path, kKernelsOwn);
}

// Of what a kernel is made: tasks of these are always there, and wait for messages.
bool is_machinery(Object frame) {
  static const char* const kFolders[] = {"/ipykernel/",      "/IPython/", "/tornado/", "/zmq/",
                                         "/jupyter_client/", "/anyio/",   "/asyncio/"};
  const Held code(g_python.code_of(frame));
  const Held file(g_python.attribute(code.object, "co_filename"));
  const char* path = file ? g_python.text_of(file.object) : nullptr;
  for (const char* folder : kFolders) {
    if (path && ::strstr(path, folder)) return true;
  }
  return false;
}

Object either(Object of, const char* one, const char* other) {
  const Object found = g_python.attribute(of, one);
  if (found) return found;
  g_python.error_clear();
  return g_python.attribute(of, other);
}

// All tasks of all loops: a WeakSet, in a module that is there if anybody uses tasks. Python 3.14 has none.
Object all_tasks() {
  const Object module = g_python.dict_item(g_python.modules(), "asyncio.tasks");
  const Held set(module ? either(module, "_scheduled_tasks", "_all_tasks") : nullptr);
  const Held references(set ? g_python.attribute(set.object, "data") : nullptr);
  return references ? g_python.list_of(references.object) : nullptr;
}

// Whether what a coroutine awaits in the end is a lock, an event or a queue of asyncio.
bool awaits_a_lock(Object coroutine) {
  bool in_lock = false;
  Object next = coroutine;
  Held kept(nullptr);
  for (int depth = 0; next && depth < Frames::kMost; ++depth) {
    const Held frame(either(next, "cr_frame", "gi_frame"));
    if (!is_frame(frame)) break;
    const Held code(g_python.code_of(frame.object));
    const Held file(g_python.attribute(code.object, "co_filename"));
    const char* path = file ? g_python.text_of(file.object) : nullptr;
    in_lock = path && (::strstr(path, "/asyncio/locks.py") || ::strstr(path, "/asyncio/queues.py"));
    const Held before(kept.take());
    next = kept.object = either(next, "cr_await", "gi_yieldfrom");
  }
  g_python.error_clear();
  return in_lock;
}

// A future of asyncio that gets its result from one of concurrent.futures, as those of run_in_executor() do.
bool is_of_a_thread(Object future) {
  const Held callbacks(g_python.attribute(future, "_callbacks"));
  const Held list(callbacks ? g_python.list_of(callbacks.object) : nullptr);  // of (function, context)
  const long count = list ? g_python.list_size(list.object) : 0;
  bool found = false;
  for (long i = 0; i < count && !found; ++i) {
    const Held pair(g_python.list_of(g_python.list_item(list.object, i)));
    const Object callback =
        pair && g_python.list_size(pair.object) > 0 ? g_python.list_item(pair.object, 0) : nullptr;
    // An attribute of an object of the program's might be code.
    if (!callback || Held(g_python.type_of(callback)).object != g_python.type_function) continue;
    const Held name(g_python.attribute(callback, "__qualname__"));
    const char* text = name ? g_python.text_of(name.object) : nullptr;
    found = text && ::strstr(text, "_chain_future");
  }
  g_python.error_clear();
  return found;
}

}  // namespace

void Frames::clear() {
  while (size_ > 0) g_python.release(list_[--size_]);
}

void Frames::add(Object frame) {
  if (size_ < kMost) {
    list_[size_++] = frame;
  } else {
    g_python.release(frame);
  }
}

void Frames::reverse() {
  for (int i = 0; i < size_ / 2; ++i) {
    const Object first = list_[i];
    list_[i] = list_[size_ - 1 - i];
    list_[size_ - 1 - i] = first;
  }
}

bool Frames::cut_at_kernels_own() {
  int begin = 0;
  while (begin < size_ && is_kernels_own(list_[begin])) ++begin;
  int end = begin;
  while (end < size_ && !is_kernels_own(list_[end])) ++end;
  if (begin == size_) begin = end = 0;  // nothing but the kernel's
  const bool found = end < size_;
  while (size_ > end) g_python.release(list_[--size_]);
  for (int i = 0; i < begin; ++i) g_python.release(list_[i]);
  for (int i = begin; i < end; ++i) list_[i - begin] = list_[i];
  size_ = end - begin;
  return found;
}

bool Frames::read_thread(void* thread) {
  clear();
  for (Object frame = g_python.frame_of(thread); frame; frame = g_python.caller_of(frame)) {
    add(frame);
    if (size_ == kMost) break;
  }
  return cut_at_kernels_own();
}

// A coroutine awaits another, and that one another, down to what is no coroutine; what a task waits for may
// be a task itself.
void Frames::add_chain(Object task, int depth) {
  if (seen_size_ < kMostSeen) seen_[seen_size_++] = task;
  Object awaited = g_python.attribute(task, "_coro");
  while (awaited) {
    const Held coroutine(awaited);
    Held frame(either(coroutine.object, "cr_frame", "gi_frame"));
    if (!is_frame(frame)) break;
    add(frame.take());
    awaited = either(coroutine.object, "cr_await", "gi_yieldfrom");
  }
  g_python.error_clear();
  const Held waits_for(g_python.attribute(task, "_fut_waiter"));
  if (waits_for && depth < kMostTasks) add_awaited(waits_for.object, depth + 1);
  g_python.error_clear();
}

// A task, or several of them gathered: then the first that is under way.
void Frames::add_awaited(Object future, int depth) {
  const int before = size_;
  add_chain(future, depth);
  if (size_ > before) return;
  thread_ = thread_ || is_of_a_thread(future);
  const Held gathered(g_python.attribute(future, "_children"));
  const Held children(gathered ? g_python.list_of(gathered.object) : nullptr);
  const long count = children ? g_python.list_size(children.object) : 0;
  for (long i = 0; i < count && size_ == before; ++i) {
    const Object child = g_python.list_item(children.object, i);
    thread_ = thread_ || is_of_a_thread(child);
    add_chain(child, depth);
  }
}

// A task that is under way, is not the kernel's and not of the chain that was read. One that itself awaits a
// lock, as a worker does a queue, will not free another.
bool Frames::is_of_others(Object task) {
  for (int i = 0; i < seen_size_; ++i) {
    if (seen_[i] == task) return false;
  }
  const Held coroutine(g_python.attribute(task, "_coro"));
  const Held frame(coroutine ? either(coroutine.object, "cr_frame", "gi_frame") : nullptr);
  g_python.error_clear();
  return is_frame(frame) && !is_machinery(frame.object) && !awaits_a_lock(coroutine.object);
}

bool Frames::read_awaited() {
  const Held tasks(all_tasks());
  const long count = tasks ? g_python.list_size(tasks.object) : 0;
  bool found = false;
  alone_ = false;
  for (long i = 0; i < count && !found; ++i) {
    const Held task(g_python.call(g_python.list_item(tasks.object, i)));
    clear();
    seen_size_ = 0;
    thread_ = false;
    if (task) add_chain(task.object, 1);
    reverse();
    found = cut_at_kernels_own() && size_ > 0;
  }
  if (!found) clear();
  alone_ = found;
  for (long i = 0; i < count && alone_; ++i) {
    const Held task(g_python.call(g_python.list_item(tasks.object, i)));
    alone_ = !task || !is_of_others(task.object);
  }
  g_python.error_clear();
  return found;
}

}  // namespace plimsoll::gate

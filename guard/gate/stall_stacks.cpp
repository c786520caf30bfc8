// Where the main thread is, for the guard's watch over stalls, and without a signal to it: one would cut
// short what the program waits in (sleep, poll). One thread listens for the guard's questions; for each a
// second one takes the interpreter's lock and reads the frames, which then stand still, by Python's C API. No
// bytecode is run: no tracer, no finalizer and no interrupt of the program sees any of it. If the lock is not
// to be had, native code holds it and frames stand still as well: they are read without.
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "guard/gate/frames.h"
#include "guard/gate/gate.h"
#include "guard/gate/progress.h"
#include "guard/gate/python_api.h"

namespace plimsoll::gate {

namespace {

constexpr int kLockPatienceMs = 1000, kHeedPatienceMs = 300;
constexpr int kValueFrames = 4;
constexpr int kProbes = 5;
constexpr int64_t kHeedsNs = 50'000;
// Processor time in which a thread that is not at rest is sure to have been asked for the lock; Python's
// interval is 5 ms.
constexpr int64_t kAtRestNs = 1'000'000, kKeepsNs = 50'000'000;
constexpr int64_t kOneCallNs = 500'000'000;
constexpr size_t kThreadStack = 512 * 1024;

void* g_main_state = nullptr;
clockid_t g_main_clock;
Handler g_write_all = nullptr;
int g_write_all_signal = 0;

std::atomic<bool> g_taking{false};
std::atomic<uint32_t> g_lock_turns{0};               // odd while the taker waits for the interpreter's lock
pthread_mutex_t g_pipe = PTHREAD_MUTEX_INITIALIZER;  // one answer at a time
std::atomic<bool> g_pending{false};
std::atomic<int64_t> g_pending_since{0};
int64_t g_heeded_at = 0;  // written before g_pending becomes false

sigjmp_buf g_gave_up;
thread_local bool t_reading = false;

int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Until it is no longer so, but no longer than that, nor than the main thread takes for so much work.
template <class Value>
bool wait_while(const std::atomic<Value>& value, Value so, int milliseconds, int64_t work) {
  const int64_t end = monotonic_ns() + milliseconds * 1'000'000LL, most = nanoseconds(g_main_clock) + work;
  while (value.load() == so && monotonic_ns() < end && nanoseconds(g_main_clock) < most) {
    const timespec time{0, 200'000};
    ::nanosleep(&time, nullptr);
  }
  return value.load() != so;
}

// Text that grows in a buffer and is cut at its end.
struct Text {
  char bytes[16 * 1024] = {};
  size_t size = 0;

  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    const size_t room = sizeof bytes - size;
    va_list values;
    va_start(values, format);
    const int n = ::vsnprintf(bytes + size, room, format, values);
    va_end(values);
    if (n > 0 && static_cast<size_t>(n) < room) size += static_cast<size_t>(n);
  }
};

void send(const char* bytes, size_t size) {
  while (size > 0) {
    const long n = ::syscall(SYS_write, kStackFd, bytes, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
}

void mix(uint64_t& mark, uint64_t value) { mark = (mark ^ value) * 0x100000001b3 + (mark >> 29); }

void mix_value(uint64_t& mark, Object value) {
  const Held type(g_python.type_of(value));
  const Object t = type.object;
  if (t == g_python.type_int || t == g_python.type_float || t == g_python.type_str ||
      t == g_python.type_bytes) {
    return mix(mark, static_cast<uint64_t>(g_python.hash_of(value)));
  }
  mix(mark, reinterpret_cast<uint64_t>(value));
  if (t == g_python.type_list || t == g_python.type_dict || t == g_python.type_set ||
      t == g_python.type_bytearray) {
    mix(mark, static_cast<uint64_t>(g_python.size_of(value)));
  }
}

// A program's own mapping would run its own code.
bool is_plain(Object mapping) {
  const Held type(g_python.type_of(mapping));
  return type.object == g_python.type_dict || (type && type.object == g_python.type_locals);
}

void mix_locals(uint64_t& mark, Object frame) {
  const Held locals(g_python.attribute(frame, "f_locals"));
  if (!locals || !is_plain(locals.object)) return;
  const Held values(g_python.values_of(locals.object));
  const long count = values ? g_python.list_size(values.object) : 0;
  for (long i = 0; i < count; ++i) mix_value(mark, g_python.list_item(values.object, i));
}

// As faulthandler does.
void add_frame(Text& text, Object frame) {
  const Held code(g_python.code_of(frame));
  const Held file(g_python.attribute(code.object, "co_filename"));
  const Held name(g_python.attribute(code.object, "co_name"));
  const char* path = file ? g_python.text_of(file.object) : nullptr;
  const char* function = name ? g_python.text_of(name.object) : nullptr;
  text.add("  File \"%s\", line %d in %s\n", path ? path : "?", g_python.line_of(frame),
           function ? function : "?");
}

bool is_of_type(Object value, const char* name) {
  const Held type(g_python.type_of(value));
  const Held own(g_python.attribute(type.object, "__name__"));
  const char* text = own ? g_python.text_of(own.object) : nullptr;
  return text && ::strcmp(text, name) == 0;
}

// In a method of multiprocessing's Pool, or of one of its results: which workers it has. 0 if it has none, or
// ends them by itself after so many tasks.
uint64_t workers_of(Object frame) {
  const Held locals(g_python.attribute(frame, "f_locals"));
  if (!locals || !is_plain(locals.object)) return 0;
  const Held values(g_python.values_of(locals.object));
  if (!values || g_python.list_size(values.object) == 0) return 0;
  const Object self = g_python.list_item(values.object, 0);
  const Held inner(g_python.attribute(self, "_pool"));
  if (!inner) return 0;
  const Object pool = is_of_type(inner.object, "list") ? self : inner.object;
  const Held workers(g_python.attribute(pool, "_pool")), most(g_python.attribute(pool, "_maxtasksperchild"));
  if (!workers || !most || !is_of_type(workers.object, "list") || !is_of_type(most.object, "NoneType"))
    return 0;
  uint64_t mark = 0xcbf29ce484222325;
  const long count = g_python.list_size(workers.object);
  for (long i = 0; i < count; ++i) {
    const Held identity(g_python.attribute(g_python.list_item(workers.object, i), "_identity"));
    if (!identity) return 0;  // a thread
    mix(mark, static_cast<uint64_t>(g_python.hash_of(identity.object)));
  }
  return mark;
}

bool pool_loses_workers(const Frames& frames) {
  static uint64_t before = 0;
  uint64_t now = 0;
  for (int i = 0; i < frames.size() && now == 0; ++i) {
    const Held code(g_python.code_of(frames[i]));
    const Held file(g_python.attribute(code.object, "co_filename"));
    const char* path = file ? g_python.text_of(file.object) : nullptr;
    if (path && ::strstr(path, "/multiprocessing/pool.py")) now = workers_of(frames[i]);
    g_python.error_clear();
  }
  const bool lost = now != 0 && before != 0 && now != before;
  before = now;
  return lost;
}

// With the lock held: where the cell is, and marks of the variables there. If it is a coroutine that waits
// for a thread, or that no other task could wake, or a pool that loses its workers, the word for that; else
// null.
const char* add_stack(Text& text) {
  static Frames frames;
  const bool runs = frames.read_thread(g_main_state), awaits = !runs && frames.read_awaited();
  if (!runs && !awaits) frames.read_thread(g_main_state);
  text.add("Stack (most recent call first):\n");
  for (int i = 0; i < frames.size(); ++i) add_frame(text, frames[i]);
  text.add("%s", kStallEnds);
  for (int i = 0; i < frames.size() && i < kValueFrames; ++i) {
    uint64_t mark = 0xcbf29ce484222325;
    mix_locals(mark, frames[i]);
    const bool unseen = may_progress_unseen(frames[i]);
    text.add("%llx%.*s,", static_cast<unsigned long long>(mark), unseen ? 1 : 0, &kUnseen);
  }
  const bool loses = pool_loses_workers(frames);
  frames.clear();
  g_python.error_clear();
  if (loses) return kWorkersEnd;
  if (!awaits) return nullptr;
  return frames.awaits_thread() ? kAwaitsThread : frames.awaits_alone() ? kAwaitsAlone : nullptr;
}

int heed(void*) {
  g_heeded_at = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
  g_pending.store(false);
  return 0;
}

// How soon, in processor time of its own, the main thread comes by the interpreter's loop: at once if what
// runs is bytecode, later if it is native code. The lock is what makes it look.
bool heeds_soon() {
  g_lock_turns.fetch_add(1);
  const int state = g_python.take_lock();
  g_lock_turns.fetch_add(1);
  const bool asked = !g_pending.exchange(true);
  const bool added = asked && g_python.add_pending_call(heed, nullptr) == 0;
  if (added) g_pending_since.store(monotonic_ns());
  if (asked && !added) g_pending.store(false);  // there are too many calls already
  const int64_t asked_at = nanoseconds(g_main_clock);
  g_python.release_lock(state);
  return added && wait_while(g_pending, true, kHeedPatienceMs, 20 * kHeedsNs) &&
         g_heeded_at - asked_at < kHeedsNs;
}

bool runs_bytecode() {
  int soon = 0;
  for (int i = 0; i < kProbes && !g_pending.load(); ++i) soon += heeds_soon() ? 1 : 0;
  return 2 * soon > kProbes;
}

void* take(void*) {
  ::prctl(PR_SET_NAME, kThreadName);
  static Text text;
  text.size = 0;
  text.add("%s", kStallBegins);
  const int state = g_python.take_lock();
  g_lock_turns.fetch_add(1);
  const bool collects = g_python.stop_collector() != 0;
  const char* const awaits = add_stack(text);
  if (collects) g_python.start_collector();
  g_python.release_lock(state);
  const bool one_call = g_pending.load() && monotonic_ns() - g_pending_since.load() > kOneCallNs;
  text.add(" %s;\n", awaits ? awaits : one_call ? kInOneCall : runs_bytecode() ? kInBytecode : kInNative);
  ::pthread_mutex_lock(&g_pipe);
  send(text.bytes, text.size);
  ::pthread_mutex_unlock(&g_pipe);
  g_taking.store(false);
  return nullptr;
}

// Should the native code return meanwhile, frames change under the reader, which then may meet anything; from
// then on its frames are not known any more.
void read_without_lock() {
  ::pthread_mutex_lock(&g_pipe);
  send(kStallBegins, ::strlen(kStallBegins));
  if (g_write_all && sigsetjmp(g_gave_up, 1) == 0) {
    t_reading = true;
    g_write_all(g_write_all_signal);
  }
  t_reading = false;
  Text text;
  text.add("%s %s;\n", kStallEnds, kKeepsLock);
  send(text.bytes, text.size);
  ::pthread_mutex_unlock(&g_pipe);
}

// The program's signals are not for the gate's threads: one that got there would not wake the main thread.
bool start_thread(void* (*function)(void*)) {
  sigset_t all, before;
  ::sigfillset(&all);
  for (int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigdelset(&all, fault);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kThreadStack);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool made = ::pthread_create(&thread, &attributes, function, nullptr) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return made;
}

void note_alarm() {
  itimerval timer{};
  ::getitimer(ITIMER_REAL, &timer);
  const bool set = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
  const bool again = timer.it_interval.tv_sec != 0 || timer.it_interval.tv_usec != 0;
  g_page->alarm.store(!set ? 0 : again ? 2 : 1);
}

// A taker from an earlier question may still wait, for its first turn with the lock or a later one. On a
// machine with much to do the lock may be late for no other reason; then there is no answer.
void answer() {
  const int64_t before = nanoseconds(g_main_clock);
  if (!g_taking.exchange(true)) {
    g_lock_turns.fetch_add(1);
    if (!start_thread(take)) {
      g_lock_turns.fetch_add(1);
      g_taking.store(false);
    }
  }
  const uint32_t turn = g_lock_turns.load();
  if (turn % 2 == 0 || wait_while(g_lock_turns, turn, kLockPatienceMs, kKeepsNs)) return;
  const int64_t worked = nanoseconds(g_main_clock) - before;
  if (worked < kAtRestNs || worked >= kKeepsNs) read_without_lock();
}

void* listen(void*) {
  ::prctl(PR_SET_NAME, kThreadName);
  for (uint32_t seen = 0;;) {
    ::syscall(SYS_futex, &g_page->stacks_wanted, FUTEX_WAIT, seen, nullptr, nullptr, 0);
    const uint32_t wanted = g_page->stacks_wanted.load();
    if (wanted != seen) {
      note_alarm();
      answer();
    }
    seen = wanted;
  }
}

}  // namespace

void listen_for_questions(Handler write_all, int signal) {
  // Without the one lock frames never stand still, and before 3.10 the collector cannot be held: it would run
  // finalizers of the program in the gate's thread.
  if (::strstr(g_python.version(), "free-threading") || !g_python.stop_collector) return;
  g_write_all = write_all;
  g_write_all_signal = signal;
  g_main_state = g_python.this_thread();
  if (::pthread_getcpuclockid(::pthread_self(), &g_main_clock) == 0) start_thread(listen);
}

void give_up_reading(int signal) {
  if (!t_reading || (signal != SIGSEGV && signal != SIGBUS)) return;
  t_reading = false;
  siglongjmp(g_gave_up, 1);
}

}  // namespace plimsoll::gate

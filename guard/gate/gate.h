// Inside the gate library: what its files share. No libstdc++, no allocation, no exception.
#pragma once

#include <cstddef>
#include <cstdint>

#include "guard/gate/page.h"

struct sigaction;

namespace plimsoll::gate {

// The shared page, or null if there is none (then everything is granted).
extern Page* g_page;

// Requests smaller than this are never refused: they are what keeps a program able to cope.
inline constexpr size_t kReserve = 64 * 1024;

// Whether `size` more bytes (`growth` of them new) must be refused; notes the refusal.
bool refuse(size_t size, size_t growth);

inline bool refused(size_t size) { return __builtin_expect(size >= kReserve, 0) && refuse(size, size); }

// Catches fatal signals before the program's own handlers do.
void watch_signals();

// The C library's own.
int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old);

using Handler = void (*)(int);

// Python is about to start in this process. Once it can, faulthandler is enabled and the guard's questions
// are answered, if it is the kernel's.
void python_starts();
// In the thread that failed, before Python's handler: has this thread and the main one write their stacks to
// kStackFd; waits up to 500 ms for the latter. Returns whether they were asked.
bool ask_for_stacks();
// The program lives on: the next fault is asked of again.
void fault_survived();

// To be called in Python's main thread: answers the guard's questions where that thread is, from now on, in a
// thread of the gate's own. `write_all(signal)` writes the stacks of all threads (null: nothing does).
void listen_for_questions(Handler write_all, int signal);
// In a handler: ends, by a jump, a reading of frames that ran into this fault. Returns if there was none.
void give_up_reading(int signal);

int64_t monotonic_ns();
size_t copy_text(char* to, size_t capacity, const char* from);
size_t append_hex(char* to, size_t capacity, size_t at, uint64_t value);

}  // namespace plimsoll::gate

#define PLIMSOLL_EXPORT extern "C" __attribute__((visibility("default")))

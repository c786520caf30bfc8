// Inside the gate library: what its files share. No libstdc++, no allocation, no exception.
#pragma once

#include <cstddef>
#include <cstdint>

#include "guard/gate/page.h"

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

// Python has set up its handler of faults: has it told, when it can, to write one thread's stack to kStackFd
// whenever stack_signal() comes.
void python_watches_faults();
int stack_signal();
// In the thread that failed, before Python's handler: has this thread and the main one write their stacks;
// waits up to 50 ms for the latter. `handler` is Python's of stack_signal(). Returns whether it was asked.
bool ask_for_stacks(void (*handler)(int));
// The main thread has written its stack.
void note_answer();
// The program lives on: the next fault is asked of again.
void fault_survived();

int64_t monotonic_ns();
size_t copy_text(char* to, size_t capacity, const char* from);
size_t append_hex(char* to, size_t capacity, size_t at, uint64_t value);

}  // namespace plimsoll::gate

#define PLIMSOLL_EXPORT extern "C" __attribute__((visibility("default")))

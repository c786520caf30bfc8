// The page of memory that the guard shares with the gate in the kernel and in its descendants. The guard
// writes the line and its readings; the gate writes what it refused and what signal struck. Plain types only:
// both sides map the same file, built from this header by the same compiler.
#pragma once

#include <atomic>
#include <cstdint>

namespace plimsoll::gate {

inline constexpr uint64_t kMagic = 0x31656E696C6C6F73;  // "solline1"
inline constexpr const char* kPageVariable = "PLIMSOLL_GATE";
// The descriptor on which Python writes stacks when asked, and what the gate writes there before those of a
// fault.
inline constexpr int kStackFd = 198;
inline constexpr const char* kFailedThread = "plimsoll: the thread that failed\n";
inline constexpr const char* kMainThread = "plimsoll: the main thread\n";
// An answer to Page::stacks_wanted: kStallBegins, stacks, kStallEnds, marks of the variables in the innermost
// frames if they could be read (kUnseen behind one whose frame may get on unseen), "," after each, a space,
// where it is (kInBytecode and the others below), ";".
inline constexpr const char* kStallBegins = "plimsoll: where it stands\n";
inline constexpr const char* kStallEnds = "plimsoll: values ";
inline constexpr const char* kInBytecode = "bytecode";
inline constexpr const char* kInNative = "native";
// The same call since the question before.
inline constexpr const char* kInOneCall = "one call";
// A coroutine waits, and no other task is there.
inline constexpr const char* kAwaitsAlone = "awaits alone";
// A coroutine waits for a thread of an executor.
inline constexpr const char* kAwaitsThread = "awaits a thread";
// It waits for a pool of processes whose workers have ended since the question before, and been replaced.
inline constexpr const char* kWorkersEnd = "its workers end";
inline constexpr char kUnseen = '~';
inline constexpr const char* kKeepsLock =
    "keeps the lock";  // native code that no other thread can run beside
// The name of the gate's own threads, as /proc has it.
inline constexpr const char* kThreadName = "plimsoll-gate";
// Frames from this folder outwards are the kernel's own.
inline constexpr const char* kKernelsOwn = "/IPython/core/";
inline constexpr int kFrames = 12;
inline constexpr int kFrameText = 112;

// One allocation refused. Valid once `ticket` is not 0; a slot is used again after kRefusals more.
struct Refusal {
  std::atomic<uint32_t> ticket;
  int32_t pid;
  int32_t frame_count;
  int64_t time_ns;   // CLOCK_MONOTONIC
  int64_t size;      // bytes asked for
  int64_t resident;  // bytes resident then, all processes
  int64_t line;
  char frames[kFrames][kFrameText];  // "libfoo.so+0x12ab foo_alloc", innermost first
};

// One fatal signal, as it struck.
struct Fault {
  std::atomic<uint32_t> ticket;
  int32_t pid;
  int32_t signal;
  int32_t code;  // si_code
  int64_t time_ns;
  uint64_t address;  // si_addr
  uint64_t instruction_pointer;
  uint64_t stack_pointer;
  uint8_t instruction[16];
  int32_t instruction_bytes;      // how many of them could be read
  std::atomic<int32_t> survived;  // the program's own handler returned
  char module[160];               // "/lib/libfoo.so+0x12ab", where the instruction lies
  char mapping[160];              // the file mapped at `address`, if any
};

inline constexpr uint32_t kRefusals = 16;
inline constexpr uint32_t kFaults = 8;

struct Page {
  uint64_t magic;
  std::atomic<int32_t> kernel_pid;
  std::atomic<int32_t> python_pid;      // the kernel, or the first Python that it started; 0: none
  std::atomic<uint32_t> stacks_wanted;  // counts the guard's questions; a futex
  std::atomic<int32_t> watches_stalls;  // such questions may come
  std::atomic<int32_t> alarm;     // the process's own clock (ITIMER_REAL): 1 rings once, 2 over and over
  std::atomic<int32_t> attached;  // the kernel's gate has found the page
  std::atomic<int64_t> line;      // bytes; 0: none
  std::atomic<int64_t> total;     // resident bytes of the kernel and its descendants, read last
  std::atomic<int64_t> rest;      // those of the descendants alone
  std::atomic<uint32_t> refusal_count;
  std::atomic<uint32_t> fault_count;
  Refusal refusals[kRefusals];
  Fault faults[kFaults];
};

}  // namespace plimsoll::gate

// Fatal signals, noted before the program's own handlers see them: once a handler such as Python's
// faulthandler has printed and raised the signal again, where and why it struck is lost. The program's
// handlers are called as they would have been; it never sees ours.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard/gate/gate.h"

namespace plimsoll::gate {

namespace {

using Signal = sighandler_t (*)(int, sighandler_t);
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
struct sigaction g_theirs[NSIG];
bool g_is_pythons[NSIG];  // their handler is the interpreter's own
bool g_watching = false;
pid_t g_pid = 0;

bool watched(int signal) {
  if (!g_watching) return false;
  for (int s : kSignals) {
    if (s == signal) return true;
  }
  return false;
}

// Finds the line of /proc/self/maps that holds `address`; writes "file+offset". Only system calls: the heap
// may be what broke.
void describe(uint64_t address, char* out, size_t capacity) {
  out[0] = '\0';
  const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return;
  static std::atomic_flag taken;  // its buffers, too large for a signal's stack, serve one thread at a time
  if (taken.test_and_set()) {
    ::syscall(SYS_close, fd);
    return;
  }
  static char line[512];
  size_t length = 0;
  static char block[4096];
  for (long n; (n = ::syscall(SYS_read, fd, block, sizeof block)) > 0;) {
    for (long i = 0; i < n; ++i) {
      if (block[i] != '\n') {
        if (length + 1 < sizeof line) line[length++] = block[i];
        continue;
      }
      line[length] = '\0';
      length = 0;
      char* end = nullptr;
      const uint64_t low = ::strtoull(line, &end, 16);
      const uint64_t high = *end == '-' ? ::strtoull(end + 1, &end, 16) : 0;
      if (address < low || address >= high) continue;
      const char* name = ::strchr(line, '/');
      if (!name) name = ::strchr(line, '[');
      while (*end == ' ') ++end;
      while (*end && *end != ' ') ++end;  // permissions
      const uint64_t offset = ::strtoull(end, nullptr, 16);
      const size_t at = copy_text(out, capacity, name ? name : "(no file)");
      append_hex(out, capacity, at, address - low + offset);
      taken.clear();
      ::syscall(SYS_close, fd);
      return;
    }
  }
  taken.clear();
  ::syscall(SYS_close, fd);
}

// Reads memory that may not be there, without a second fault.
int read_bytes(uint64_t address, uint8_t* out, int count) {
  for (; count > 0; count /= 2) {
    iovec to{out, static_cast<size_t>(count)};
    iovec from{reinterpret_cast<void*>(address), static_cast<size_t>(count)};
    if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) == count) return count;
  }
  return 0;
}

// Returns the ticket of the note.
uint32_t note(int signal, const siginfo_t* info, const ucontext_t* context) {
  const uint32_t ticket = g_page->fault_count.fetch_add(1) + 1;
  Fault& f = g_page->faults[(ticket - 1) % kFaults];
  f.ticket.store(0, std::memory_order_release);
  f.survived.store(0);
  f.pid = ::getpid();
  f.signal = signal;
  f.code = info->si_code;
  f.time_ns = monotonic_ns();
  f.address = reinterpret_cast<uint64_t>(info->si_addr);
#if defined(__x86_64__)
  f.instruction_pointer = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  f.stack_pointer = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  f.instruction_pointer = context->uc_mcontext.pc;
  f.stack_pointer = context->uc_mcontext.sp;
#else
  f.instruction_pointer = f.stack_pointer = 0;
  (void)context;
#endif
  f.instruction_bytes = 0;
  f.module[0] = f.mapping[0] = '\0';
  // What struck is told before where, so that it stands even if the process does not live to finish the note.
  f.ticket.store(ticket, std::memory_order_release);
  f.instruction_bytes = read_bytes(f.instruction_pointer, f.instruction, sizeof f.instruction);
  describe(f.instruction_pointer, f.module, sizeof f.module);
  describe(f.address, f.mapping, sizeof f.mapping);
  return ticket;
}

// Whether a handler comes back tells a fault that a program lives with from one that its handler only
// reports.
void note_survival(uint32_t ticket) {
  Fault& f = g_page->faults[(ticket - 1) % kFaults];
  if (f.ticket.load() == ticket) f.survived.store(1);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  give_up_reading(signal);
  // Only a fault counts, or a signal that the process sent itself for the first time; one that the
  // program's handler raises again would hide the first.
  static std::atomic<int> seen[NSIG];
  const bool again = info->si_code <= 0 && seen[signal].load() != 0;
  uint32_t ticket = 0;
  if (g_page && !again) {
    seen[signal].store(1);
    ticket = note(signal, info, static_cast<const ucontext_t*>(context));
  }
  const struct sigaction theirs = g_theirs[signal];
  if (theirs.sa_flags & static_cast<int>(SA_RESETHAND)) g_theirs[signal] = {};
  const bool told = g_is_pythons[signal] && ask_for_stacks();
  if (theirs.sa_flags & SA_SIGINFO) {
    theirs.sa_sigaction(signal, info, context);
  } else if (theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
    theirs.sa_handler(signal);
  } else {
    // Back to the default, and out: a fault strikes again at once, a sent signal is sent again.
    struct sigaction plain {};
    plain.sa_handler = theirs.sa_handler;
    real_sigaction(signal, &plain, nullptr);
    if (info->si_code <= 0 && theirs.sa_handler == SIG_DFL) ::raise(signal);
    return;
  }
  if (ticket != 0) note_survival(ticket);
  if (told) fault_survived();
}

// Whether this address is in the interpreter itself.
bool is_in_python(const void* address) {
  Dl_info theirs{}, python{};
  const void* known = ::dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  return known && ::dladdr(address, &theirs) && ::dladdr(known, &python) &&
         theirs.dli_fbase == python.dli_fbase;
}

bool is_pythons(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
         is_in_python(reinterpret_cast<const void*>(action.sa_handler));
}

void install(int signal, const struct sigaction* theirs) {
  struct sigaction ours {};
  if (theirs) ours = *theirs;
  ours.sa_sigaction = on_signal;
  ours.sa_flags = (theirs ? theirs->sa_flags : 0) | SA_SIGINFO | SA_ONSTACK;
  real_sigaction(signal, &ours, nullptr);
}

}  // namespace

int real_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  static Sigaction real = nullptr;
  if (!real) real = reinterpret_cast<Sigaction>(::dlsym(RTLD_NEXT, "sigaction"));
  return real(signal, action, old);
}

void watch_signals() {
  // A stack that has overflowed has no room for a handler; this one is for the main thread.
  stack_t present{};
  if (::sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE)) {
    constexpr size_t kSize = 64 * 1024;
    void* memory = reinterpret_cast<void*>(
        ::syscall(SYS_mmap, nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = kSize;
    if (memory != MAP_FAILED) ::sigaltstack(&stack, nullptr);
  }
  for (int signal : kSignals) {
    real_sigaction(signal, nullptr, &g_theirs[signal]);
    install(signal, nullptr);
  }
  g_pid = ::getpid();
  ::pthread_atfork(nullptr, nullptr, [] { g_pid = ::getpid(); });
  g_watching = true;
}

}  // namespace plimsoll::gate

using namespace plimsoll::gate;

PLIMSOLL_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  // Python looks at the handlers there are when it starts.
  if (!action && signal == SIGSEGV && is_in_python(__builtin_return_address(0))) python_starts();
  if (!watched(signal)) return real_sigaction(signal, action, old);
  const struct sigaction before = g_theirs[signal];
  if (action && ::getpid() != g_pid) {
    // Between vfork and exec: the child's handlers are its own, but our table is its parent's.
    real_sigaction(signal, action, nullptr);
  } else if (action) {
    g_theirs[signal] = *action;
    g_is_pythons[signal] = is_pythons(*action);
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_IGN) {
      real_sigaction(signal, action, nullptr);
    } else {
      install(signal, action);
    }
  }
  if (old) *old = before;
  return 0;
}

PLIMSOLL_EXPORT sighandler_t signal(int signal, sighandler_t handler) {
  if (!watched(signal)) {
    static Signal real = nullptr;
    if (!real) real = reinterpret_cast<Signal>(::dlsym(RTLD_NEXT, "signal"));
    return real(signal, handler);
  }
  struct sigaction action {
  }, old{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return ::sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

// Python's stacks at a fault. Its own handler writes those of all threads, the newest first, and reads frames
// that running threads change beneath it: it has been seen to die of that before it came to the thread that
// failed. So that one, whose frames stand still, and the main one are asked for theirs first.
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guard/gate/gate.h"

namespace plimsoll::gate {

namespace {

constexpr int kMostMilliseconds = 50;

// As Python.h declares them; found at run time, for the gate is preloaded into any program.
struct Python {
  int (*add_pending_call)(int (*)(void*), void*);
  void* (*import_module)(const char*);
  void* (*call_method)(void*, const char*, const char*, ...);
  void (*error_clear)();
};

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

Python g_python{};
std::atomic<bool> g_registered{false}, g_asked{false}, g_answered{false};

// Runs in the main thread as soon as the interpreter can; the module lives as long as the process.
int register_signal(void*) {
  void* module = g_python.import_module("faulthandler");
  // register(signum, file, all_threads, chain)
  if (module && g_python.call_method(module, "register", "iiii", stack_signal(), kStackFd, 0, 0)) {
    g_registered.store(true);
  } else {
    g_python.error_clear();
  }
  return 0;
}

void write_line(const char* text) {
  [[maybe_unused]] const long n = ::syscall(SYS_write, kStackFd, text, ::strlen(text));
}

}  // namespace

int stack_signal() { return SIGRTMIN + 8; }

void python_watches_faults() {
  static std::atomic_flag done;
  if (!g_page || done.test_and_set()) return;
  if (find(g_python.add_pending_call, "Py_AddPendingCall") &&
      find(g_python.import_module, "PyImport_ImportModule") &&
      find(g_python.call_method, "PyObject_CallMethod") && find(g_python.error_clear, "PyErr_Clear")) {
    g_python.add_pending_call(register_signal, nullptr);
  }
}

bool ask_for_stacks(void (*handler)(int)) {
  // A child has its parent's registration, but no guard at the other end.
  const pid_t process = ::getpid();
  if (!g_registered.load() || process != g_page->kernel_pid.load() || g_asked.exchange(true)) return false;
  write_line(kFailedThread);
  handler(stack_signal());
  if (::syscall(SYS_gettid) == process) return true;
  write_line(kMainThread);
  ::syscall(SYS_tgkill, process, process, stack_signal());
  for (int i = 0; i < kMostMilliseconds && !g_answered.load(); ++i) {
    const timespec time{0, 1'000'000};
    ::nanosleep(&time, nullptr);
  }
  return true;
}

void note_answer() { g_answered.store(true); }

void fault_survived() {
  g_answered.store(false);
  g_asked.store(false);
}

}  // namespace plimsoll::gate

// Python's stacks at a fault. Its own handler, faulthandler, writes those of all threads, the newest first,
// and reads frames that running threads change beneath it: it has been seen to die of that before it came to
// the thread that failed. So that one, whose frames stand still, and the main one are asked for theirs first.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "guard/gate/gate.h"
#include "guard/gate/python_api.h"

namespace plimsoll::gate {

namespace {

constexpr int kMostMilliseconds = 500;  // on a loaded machine it may take some until the main thread runs

Handler g_write_one = nullptr;
std::atomic<bool> g_asked{false}, g_answered{false};

int one_thread() { return SIGRTMAX - 4; }
int all_threads() { return SIGRTMAX - 5; }

void write_line(const char* text) {
  [[maybe_unused]] const long n = ::syscall(SYS_write, kStackFd, text, ::strlen(text));
}

// The function that faulthandler has for a signal and that writes stacks to kStackFd. It is called as such;
// the signal itself stays as it was.
Handler writer(Object faulthandler, int signal, bool all) {
  struct sigaction before {
  }, theirs{};
  real_sigaction(signal, nullptr, &before);
  // register(signum, file, all_threads, chain)
  if (!g_python.call_method(faulthandler, "register", "iiii", signal, kStackFd, all ? 1 : 0, 0))
    return nullptr;
  real_sigaction(signal, &before, &theirs);
  return theirs.sa_handler;
}

// Runs in the main thread as soon as the interpreter can. faulthandler is enabled here and not by its
// environment variable: that holds for child processes too, and comes so early that Python then takes the
// handlers of faults for somebody else's.
int set_up_python(void*) {
  Object faulthandler = g_python.import_module("faulthandler");
  // enable(file, all_threads)
  if (faulthandler && g_python.call_method(faulthandler, "enable", "ii", 2, 1) &&
      ::fcntl(kStackFd, F_SETFD, FD_CLOEXEC) == 0) {
    g_write_one = writer(faulthandler, one_thread(), false);
    if (g_page->watches_stalls.load() != 0)
      listen_for_questions(writer(faulthandler, all_threads(), true), all_threads());
  }
  g_python.error_clear();
  return 0;
}

// Whether this is the process that the guard's questions and pipe are for: of a kernel that is started by a
// script the first Python.
bool is_the_kernels_python() {
  int32_t known = g_page->python_pid.load();
  if (known != 0 && known != ::getpid() && ::kill(known, 0) == 0) return false;
  return g_page->python_pid.compare_exchange_strong(known, ::getpid());
}

void on_question(int signal) {
  g_write_one(signal);
  g_answered.store(true);
}

}  // namespace

void python_starts() {
  static std::atomic_flag done;
  if (!g_page || done.test_and_set() || !is_the_kernels_python() || !find_python()) return;
  g_python.add_pending_call(set_up_python, nullptr);
}

bool ask_for_stacks() {
  const pid_t process = ::getpid();
  if (!g_write_one || process != g_page->python_pid.load() || g_asked.exchange(true)) return false;
  write_line(kFailedThread);
  g_write_one(one_thread());
  if (::syscall(SYS_gettid) == process) return true;
  write_line(kMainThread);
  struct sigaction question {
  }, before{};
  question.sa_handler = on_question;
  question.sa_flags = SA_RESTART | SA_ONSTACK;
  real_sigaction(one_thread(), &question, &before);
  ::syscall(SYS_tgkill, process, process, one_thread());
  for (int i = 0; i < kMostMilliseconds && !g_answered.load(); ++i) {
    const timespec time{0, 1'000'000};
    ::nanosleep(&time, nullptr);
  }
  if (g_answered.load()) real_sigaction(one_thread(), &before, nullptr);
  return true;
}

void fault_survived() {
  g_answered.store(false);
  g_asked.store(false);
}

}  // namespace plimsoll::gate

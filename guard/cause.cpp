#include "guard/cause.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <string_view>

#include "common/bytes.h"
#include "guard/instruction.h"

namespace plimsoll::guard {

namespace {

// A refusal and the death that follows belong together when no more time than this lies between them.
constexpr double kSurelyAfter = 0.5, kLikelyAfter = 2;
// A handler that prints all stacks of a busy process takes its time; a fault older than this was lived with.
constexpr double kHandlerTakes = 10;
constexpr uint64_t kStackReach = 256 * 1024;

bool has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

// The line of `text` that holds `what`, trimmed; empty if none does.
std::string line_with(const std::string& text, std::string_view what) {
  const size_t at = text.find(what);
  if (at == std::string::npos) return {};
  const size_t begin = text.rfind('\n', at) + 1;  // npos + 1 is the beginning
  const size_t end = std::min(text.find('\n', at), text.size());
  return text.substr(begin, std::min<size_t>(end - begin, 300));
}

std::string signal_text(int signal) {
  struct Name {
    int signal;
    const char* name;
  };
  constexpr Name kNames[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
      {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"},
      {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
      {SIGXFSZ, "SIGXFSZ"}, {SIGUSR1, "SIGUSR1"}, {SIGUSR2, "SIGUSR2"}, {SIGALRM, "SIGALRM"}};
  for (const auto& n : kNames) {
    if (n.signal == signal) return fmt::format("{} ({})", n.name, ::strsignal(signal));
  }
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

const Fault* fault_of(const Evidence& e, int signal) {
  // The first: what a handler raises again comes later.
  for (const auto& f : e.faults) {
    if (f.pid == e.pid && f.signal == signal) return &f;
  }
  return nullptr;
}

bool is_fault(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

// The signal in the first header that Python's faulthandler wrote; 0 if it wrote none.
int signal_in_dump(const std::string& words) {
  constexpr std::string_view kHeader = "Fatal Python error: ";
  const size_t at = words.find(kHeader);
  if (at == std::string::npos) return 0;
  const std::string_view name = std::string_view(words).substr(at + kHeader.size());
  auto is = [&](std::string_view n) { return name.substr(0, n.size()) == n; };
  return is("Segmentation fault")    ? SIGSEGV
         : is("Illegal instruction") ? SIGILL
         : is("Bus error")           ? SIGBUS
         : is("Aborted")             ? SIGABRT
         : is("Floating")            ? SIGFPE
                                     : 0;
}

// The first fault whose handler did not return. A handler that prints the stacks of all threads while they
// run on may itself be struck by a second, and the wait status tells of that one alone.
const Fault* first_fault(const Evidence& e) {
  for (const auto& f : e.faults) {
    if (f.pid == e.pid && is_fault(f.signal) && !f.survived && e.time - f.time < kHandlerTakes) return &f;
  }
  return nullptr;
}

int first_signal(const Evidence& e) {
  const int last = WTERMSIG(e.wait_status);
  if (!is_fault(last)) return last;
  const Fault* first = first_fault(e);
  // Python's own account counts where no note was made; a child writes to the same stderr, but makes notes
  // too.
  const int told = signal_in_dump(e.last_words);
  const bool known = std::any_of(e.faults.begin(), e.faults.end(), [&](auto& f) { return f.signal == told; });
  return told != 0 && !known ? told : first ? first->signal : last;
}

void add_where(Verdict& v, const Fault* fault) {
  if (fault && !fault->module.empty())
    v.evidence.push_back(fmt::format("the instruction lies in {}", fault->module));
}

void add_memory(Verdict& v, const Evidence& e) {
  if (e.samples.empty()) return;
  int64_t peak = 0;
  for (const auto& s : e.samples) peak = std::max(peak, s.resident);
  std::string text = fmt::format("resident {} at the last reading, {} at most in the last minute",
                                 bytes_text(e.samples.back().resident), bytes_text(peak));
  if (e.line > 0) text += fmt::format("; the line is at {}", bytes_text(e.line));
  v.evidence.push_back(text);
}

void advise_memory(Verdict& v) {
  v.advice.push_back("take a smaller batch, or load the data in parts instead of whole");
  v.advice.push_back(
      "free what is no longer needed (del x; keras.backend.clear_session()) before the next large step");
  v.advice.push_back("raise the line if the machine has room: plimsoll kernel install --memory …");
}

// ---- one rule per kind of death ----------------------------------------------------------------

bool by_refusal(const Evidence& e, Verdict& v) {
  if (e.refusals.empty()) return false;
  const Refusal& r = e.refusals.back();
  // From the blow, not from the end: a handler on a busy machine may take seconds in between.
  const Fault* blow = first_fault(e);
  const double since = (blow && blow->time >= r.time ? blow->time : e.time) - r.time;
  if (since > kLikelyAfter) return false;
  v.cause = Cause::memory_line;
  v.certain = since <= kSurelyAfter;
  v.title =
      fmt::format("over the memory line: a request for {} was refused, and the program did not survive that",
                  bytes_text(r.size));
  v.evidence.push_back(fmt::format("{} asked for with {} resident; the line is at {}", bytes_text(r.size),
                                   bytes_text(r.resident), bytes_text(r.line)));
  v.evidence.push_back(fmt::format("it died {:.0f} ms after the refusal, by {}", since * 1e3,
                                   WIFSIGNALED(e.wait_status)
                                       ? signal_text(WTERMSIG(e.wait_status))
                                       : fmt::format("exit status {}", WEXITSTATUS(e.wait_status))));
  for (size_t i = 0; i < std::min<size_t>(r.frames.size(), 4); ++i)
    v.evidence.push_back("asked by " + r.frames[i]);
  advise_memory(v);
  return true;
}

void by_kill(const Evidence& e, Verdict& v) {
  // Counters say that somebody was killed, the log says who.
  const bool another = e.kernel_log_read && e.kernel_log.empty();
  if (e.leaf_limit > 0 && e.leaf_oom_kills > 0 && e.leaf_limit_hits > 0) {
    v.cause = Cause::cgroup_oom;
    v.title = fmt::format("out of memory: it ran into the hard limit of {} above its line",
                          bytes_text(e.leaf_limit));
    v.evidence.push_back(fmt::format(
        "its own control group counts {} out-of-memory kill(s), with its limit met", e.leaf_oom_kills));
  } else if (!e.kernel_log.empty() || e.leaf_oom_kills > 0 ||
             (!another && e.group_oom_kills + e.system_oom_kills > 0)) {
    v.cause = Cause::host_oom;
    v.certain = !e.kernel_log.empty() || e.leaf_oom_kills > 0 || e.group_oom_kills > 0;
    v.title = "out of memory: the machine or the container had none left, and the system killed the kernel";
    if (!e.kernel_log.empty()) v.evidence.push_back("kernel log: " + e.kernel_log);
    if (e.leaf_oom_kills > 0)
      v.evidence.push_back("its own control group counts an out-of-memory kill, below its own limit");
    if (e.group_oom_kills > 0)
      v.evidence.push_back("the container's control group counts an out-of-memory kill");
    if (e.system_oom_kills > 0) v.evidence.push_back("the machine counts an out-of-memory kill at that time");
  } else {
    v.cause = Cause::outside_kill;
    v.title = "killed from outside (SIGKILL), by a user, a program or a job scheduler";
    v.evidence.push_back(e.group_oom_kills + e.system_oom_kills > 0
                             ? "out-of-memory kills are counted, but the kernel log names other processes"
                             : "no out-of-memory killer was at work: all counters stand where they stood");
    v.advice.push_back(
        "ask who manages this machine; batch systems kill what runs too long or uses too much");
  }
  add_memory(v, e);
  if (is_memory(v.cause)) advise_memory(v);
}

bool stack_overflowed(const Evidence& e, const Fault* fault) {
  if (has(e.last_words, "Cannot recover from stack overflow")) return true;
  if (fault) {
    return fault->code > 0 && fault->address < fault->stack_pointer + 4096 &&
           fault->address + kStackReach > fault->stack_pointer;
  }
  // A handler was in place and did not run: it had no stack to run on.
  return e.gate_attached;
}

void by_segfault(const Evidence& e, Verdict& v) {
  const Fault* fault = fault_of(e, SIGSEGV);
  if (stack_overflowed(e, fault)) {
    v.cause = Cause::stack_overflow;
    v.title = "the stack overflowed: a recursion without end, or too deep for native code";
    v.evidence.push_back(fault ? fmt::format("SIGSEGV at 0x{:x}, {} bytes from the stack pointer",
                                             fault->address,
                                             static_cast<int64_t>(fault->address - fault->stack_pointer))
                               : "SIGSEGV, and no room on the stack for the handler that was in place");
    add_where(v, fault);
    v.advice.push_back(
        "look for a function that calls itself; a RecursionError was avoided by setrecursionlimit or native "
        "code");
    v.advice.push_back("deep but finite: run it in a thread after threading.stack_size(512 * 1024 * 1024)");
    return;
  }
  v.cause = Cause::segfault;
  v.title = "a segmentation fault: native code used memory that is not there";
  if (fault) {
    v.evidence.push_back(fault->code <= 0 ? "SIGSEGV was sent to the process, not caused by an access"
                         : fault->address < 65536
                             ? fmt::format("address 0x{:x}: a null pointer, in effect", fault->address)
                             : fmt::format("address 0x{:x}", fault->address));
    add_where(v, fault);
  }
  v.advice.push_back("run `plimsoll doctor`: mismatched native libraries are the usual cause");
  v.advice.push_back("the innermost library of the stack here is where to look, or to report");
}

void by_illegal_instruction(const Evidence& e, Verdict& v) {
  v.cause = Cause::illegal_instruction;
  const Fault* fault = fault_of(e, SIGILL);
  const std::string family = fault ? instruction_family(fault->instruction) : "";
  v.title = "an illegal instruction: a library was built for another processor";
  if (fault && !fault->instruction.empty()) {
    std::string bytes;
    for (uint8_t b : fault->instruction) bytes += fmt::format("{:02x} ", b);
    v.evidence.push_back(
        fmt::format("instruction bytes {}{}", bytes, family.empty() ? "" : "(" + family + ")"));
  }
  add_where(v, fault);
  if (!family.empty()) {
    v.evidence.push_back(
        fmt::format("this processor has: {}", e.cpu_features.empty() ? "(unknown)" : e.cpu_features));
  }
  v.advice.push_back(
      "install a build for this processor (for instance from conda-forge, or tensorflow-cpu of another "
      "version)");
  v.advice.push_back("run `plimsoll doctor`, which names the libraries that need what this processor lacks");
}

void by_bus_error(const Evidence& e, Verdict& v) {
  v.cause = Cause::bus_error;
  v.title = "a bus error: mapped memory had no file behind it";
  const Fault* fault = fault_of(e, SIGBUS);
  if (fault) {
    v.evidence.push_back(fmt::format("address 0x{:x}{}", fault->address,
                                     fault->mapping.empty() ? "" : ", in the mapping of " + fault->mapping));
    add_where(v, fault);
  }
  v.advice.push_back(
      "a memory-mapped file was cut short while in use: do not rewrite data files that are open");
  v.advice.push_back(
      "or shared memory is full (df /dev/shm): fewer DataLoader workers, or a larger --shm-size");
}

// Text that says why a process aborted, most telling first.
struct Telltale {
  std::string_view text;
  Cause cause;
};
constexpr Telltale kTelltales[] = {
    {"OMP: Error #15", Cause::duplicate_openmp},
    {"std::bad_alloc", Cause::bad_alloc},
    {"Check failed:", Cause::failed_check},
    {"Assertion `", Cause::failed_check},
    {"Assertion failed", Cause::failed_check},
    {"assertion failed", Cause::failed_check},
    {"terminate called", Cause::aborted},
    {"Fatal Python error:", Cause::aborted},
    {"double free", Cause::aborted},
    {"corrupted", Cause::aborted},
    {"invalid pointer", Cause::aborted},
    {"stack smashing detected", Cause::aborted},
};

void by_text(const Telltale& t, const Evidence& e, Verdict& v) {
  v.cause = t.cause;
  v.evidence.push_back("it wrote: " + line_with(e.last_words, t.text));
  switch (t.cause) {
    case Cause::duplicate_openmp:
      v.title = "two OpenMP runtimes in one process (OMP: Error #15)";
      v.advice.push_back(
          "take the packages that bring libiomp5/libomp from one source (all pip or all conda)");
      v.advice.push_back(
          "`plimsoll doctor` lists both copies; KMP_DUPLICATE_LIB_OK=TRUE hides the error and may give wrong "
          "results");
      break;
    case Cause::bad_alloc:
      v.title = "out of memory: an allocation failed in C++ code that does not handle it (std::bad_alloc)";
      add_memory(v, e);
      advise_memory(v);
      break;
    case Cause::failed_check:
      v.title = "a check in native code failed, and it aborted: " + line_with(e.last_words, t.text);
      v.advice.push_back(
          "the text names the file and the condition; search for it, or report it to the library's authors");
      break;
    default: {
      const std::string what = line_with(e.last_words, "what():");
      if (!what.empty()) v.evidence.push_back(what);
      v.title = "native code aborted: " + line_with(e.last_words, t.text);
      v.advice.push_back("run `plimsoll doctor`; the stack here shows which library aborted");
    }
  }
}

void by_abort(const Evidence& e, Verdict& v) {
  for (const auto& t : kTelltales) {
    if (has(e.last_words, t.text) &&
        !(t.text == "Fatal Python error:" && has(e.last_words, "Fatal Python error: Aborted"))) {
      return by_text(t, e, v);
    }
  }
  v.cause = Cause::aborted;
  v.title = "native code called abort() without a word";
  add_where(v, fault_of(e, SIGABRT));
  v.advice.push_back("the stack here shows which library aborted; run `plimsoll doctor`");
}

// Signals that the system sends for what the process itself did; all others come from somebody else.
void by_other_signal(int signal, Verdict& v) {
  v.cause = Cause::terminated;
  switch (signal) {
    case SIGXCPU:
      v.title = "it used up the processor time that its limit allows (SIGXCPU)";
      v.advice.push_back(
          "raise the limit where the Jupyter server is started (ulimit -t), or of the cell (RLIMIT_CPU)");
      return;
    case SIGXFSZ:
      v.title = "it wrote a file beyond the largest size that its limit allows (SIGXFSZ)";
      v.advice.push_back(
          "raise the limit where the Jupyter server is started (ulimit -f), or of the cell (RLIMIT_FSIZE); "
          "or write smaller files");
      return;
    case SIGPIPE:
      v.title = "it wrote into a pipe or a connection that nobody reads any more (SIGPIPE)";
      v.advice.push_back(
          "signal.signal(signal.SIGPIPE, signal.SIG_IGN), Python's own setting, makes it a BrokenPipeError "
          "that can be caught");
      return;
    default:
      v.title = fmt::format("ended from outside by {}", signal_text(signal));
      v.advice.push_back("ask who manages this machine; batch systems end what runs too long");
  }
}

void by_signal(const Evidence& e, Verdict& v) {
  const int last = WTERMSIG(e.wait_status), signal = first_signal(e);
  v.evidence.push_back("ended by " + signal_text(signal));
  if (last != signal) v.evidence.push_back("whose handler was then ended by " + signal_text(last));
  if (is_fault(signal) && by_refusal(e, v)) return;
  switch (signal) {
    case SIGKILL: return by_kill(e, v);
    case SIGSEGV: return by_segfault(e, v);
    case SIGILL: return by_illegal_instruction(e, v);
    case SIGBUS: return by_bus_error(e, v);
    case SIGABRT: return by_abort(e, v);
    case SIGFPE:
      v.cause = Cause::arithmetic;
      v.title = "an arithmetic error in native code, such as an integer division by zero";
      add_where(v, fault_of(e, SIGFPE));
      v.advice.push_back("the stack here shows which library divided");
      return;
    default: return by_other_signal(signal, v);
  }
}

void by_exit(const Evidence& e, Verdict& v) {
  const int status = WEXITSTATUS(e.wait_status);
  for (const auto& t : kTelltales) {
    if ((t.cause == Cause::duplicate_openmp || t.cause == Cause::bad_alloc) && has(e.last_words, t.text)) {
      return by_text(t, e, v);
    }
  }
  v.cause = Cause::exited;
  v.title = fmt::format("the program ended itself with exit status {}", status);
  v.evidence.push_back(fmt::format("exit status {}, no signal", status));
  v.advice.push_back(
      "os._exit(), quit() or exit() in a library or in the cell ends the kernel; raise an exception instead");
}

}  // namespace

const char* name_of(Cause cause) {
  constexpr const char* kNames[] = {"memory_line",         "cgroup_oom", "host_oom",   "bad_alloc",
                                    "outside_kill",        "terminated", "segfault",   "stack_overflow",
                                    "illegal_instruction", "bus_error",  "arithmetic", "failed_check",
                                    "duplicate_openmp",    "aborted",    "exited",     "startup_crash",
                                    "stall_timeout"};
  return kNames[static_cast<size_t>(cause)];
}

bool is_memory(Cause cause) {
  return cause == Cause::memory_line || cause == Cause::cgroup_oom || cause == Cause::host_oom ||
         cause == Cause::bad_alloc;
}

Verdict judge(const Evidence& e) {
  Verdict v;
  if (!e.stall.empty()) {
    v.cause = Cause::stall_timeout;
    v.title = "ended by the guard: no progress for longer than --stall-timeout allows";
    v.evidence.push_back("when it was interrupted it was " + e.stall);
    v.evidence.push_back("it did not heed the interrupt");
    v.advice.push_back("if the cell may take that long, install the kernel with a longer --stall-timeout");
    return v;
  }
  if (!e.start_error.empty()) {
    v.title = e.start_error;
    v.evidence.push_back("the program could not be run");
  } else if (WIFSIGNALED(e.wait_status)) {
    by_signal(e, v);
  } else {
    by_exit(e, v);
  }
  if (e.at_start) {
    v.cause = Cause::startup_crash;
    v.title = "the kernel did not start: " + v.title;
    const std::string missing = line_with(e.last_words, "No module named");
    if (!missing.empty()) {
      v.evidence.insert(v.evidence.begin(), "it wrote: " + missing);
      v.advice = {"install it into the environment of this kernel: python -m pip install ipykernel"};
    }
    v.advice.push_back("the next cell tries to start it again; `plimsoll doctor` looks for the reason");
  }
  return v;
}

}  // namespace plimsoll::guard

// Asked for with --import: each framework is imported, each in a throw-away process.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "doctor/run_process.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr std::chrono::seconds kLongest{120};
constexpr const char* kModules[] = {"numpy", "scipy", "h5py",       "pandas", "sklearn",   "google.protobuf",
                                    "torch", "jax",   "tensorflow", "keras",  "ipykernel", "matplotlib"};

std::string last_line(const std::string& output) {
  std::string last;
  for (const std::string_view line : split(output, "\n")) {
    if (!trim(line).empty()) last = trim(line);
  }
  return last;
}

// Imports, then says how much memory that took. (What the system tells the parent of a dead child counts
// the parent's own pages too, from the moment of the fork.)
std::string code_for(const std::string& module) {
  return concat(
      "import ", module, "\ntry:\n",
      "    print([line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')][0])\n",
      "except OSError:\n    print(0)\n");
}

std::string peak_memory(const std::string& output) {
  uint64_t kib = 0;
  for (const char c : last_line(output)) {
    if (!is_digit(c) || kib > (uint64_t{1} << 40)) return "";
    kib = 10 * kib + static_cast<uint64_t>(c - '0');
  }
  return kib == 0 ? "" : ", " + show_bytes(kib * 1024);
}

std::string meaning(int signal) {
  switch (signal) {
    case SIGILL: return "an instruction this processor does not have";
    case SIGSEGV: return "native code used memory that is not there: libraries that do not fit together";
    case SIGABRT: return "native code gave up: a failed check, a double runtime, or memory that ran out";
    case SIGBUS: return "a library that is cut off, or a full /dev/shm";
    case SIGKILL: return "killed: most likely by the out-of-memory killer";
    case SIGFPE: return "an arithmetic error in native code";
    default: return "";
  }
}

Finding describe(const std::string& module, const ProcessEnd& end) {
  Finding f;
  f.severity = Severity::error;
  const std::string said = last_line(end.output);
  if (!said.empty()) f.evidence.push_back(said);
  f.leads_to = concat("A notebook that imports ", module, " fails in the same way");
  if (!end.started || end.exit_code == 127) {
    f.what = "The interpreter could not be started";
  } else if (end.timed_out) {
    f.severity = Severity::warning;
    f.what = concat("import ", module, " did not end within ", kLongest.count(), " s");
  } else if (end.signal != 0) {
    f.what = concat("import ", module, " kills the process: ", ::strsignal(end.signal));
    f.evidence.insert(f.evidence.begin(), meaning(end.signal));
    f.fix = "See the other findings; plimsoll guard turns such a death into an error in the cell.";
  } else {
    f.what = concat("import ", module, " fails");
  }
  return f;
}

}  // namespace

void find_imports(const Exam& exam, Findings& findings) {
  if (!exam.options.import) return;
  std::vector<std::string> well;
  for (const std::string module : kModules) {
    std::string folder = module;
    std::replace(folder.begin(), folder.end(), '.', '/');
    if (exam.environment.locate(folder).empty()) continue;
    const ProcessEnd end = run_process(
        {exam.environment.python.string(), "-X", "faulthandler", "-c", code_for(module)}, kLongest);
    if (end.started && !end.timed_out && end.signal == 0 && end.exit_code == 0) {
      char seconds[16];
      std::snprintf(seconds, sizeof seconds, "%.1f s", end.seconds);
      well.push_back(concat(module, " (", seconds, peak_memory(end.output), ")"));
    } else {
      findings.push_back(describe(module, end));
    }
  }
  if (!well.empty()) {
    findings.push_back({"",
                        Severity::note,
                        Sureness::certain,
                        concat(well.size(), " packages were imported well"),
                        {some_of(well, 20)},
                        "",
                        ""});
  }
}

}  // namespace plimsoll::doctor

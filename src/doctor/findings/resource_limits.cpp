// Limits of the shell (ulimit) that frameworks run into.
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr uint64_t kMiB = 1u << 20, kGiB = 1u << 30;

struct Rule {
  const char* limit;
  uint64_t below;
  bool bytes;
  Severity severity;
  const char* what;
  const char* leads_to;
  const char* fix;
  const char* unit = "";
};
constexpr Rule kRules[] = {
    {"as", 8 * kGiB, true, Severity::warning, "The address space is limited to ",
     "std::bad_alloc or MemoryError at import: frameworks reserve far more addresses than they use",
     "ulimit -v unlimited"},
    {"data", 1 * kGiB, true, Severity::warning, "The data segment is limited to ",
     "std::bad_alloc, MemoryError or an abort in a thread of the framework", "ulimit -d unlimited"},
    {"stack", 1 * kMiB, true, Severity::warning, "The stack is limited to ",
     "Segmentation fault in deep recursion or in threads of OpenBLAS and MKL", "ulimit -s 8192"},
    {"nofile", 256, false, Severity::warning, "Open files are limited to ",
     "OSError: Too many open files with data loaders or many notebooks", "ulimit -n 4096"},
    {"nproc", 64, false, Severity::warning, "Processes and threads are limited to ",
     "pthread_create failed: Resource temporarily unavailable (OpenBLAS, TensorFlow)", "ulimit -u 4096"},
    {"fsize", 1 * kGiB, true, Severity::warning, "Files are limited to ",
     "SIGXFSZ: the kernel dies when a larger checkpoint is written", "ulimit -f unlimited"},
    {"cpu", 3600, false, Severity::warning, "Processor time is limited to ",
     "SIGXCPU or SIGKILL: the kernel dies once it has worked that long", "ulimit -t unlimited", " seconds"},
    {"pids", 64, false, Severity::warning, "The container may start no more processes and threads than ",
     "BlockingIOError or pthread_create failed: Resource temporarily unavailable",
     "docker run --pids-limit=4096 ...", " (pids.max)"},
    {"commit", 1 * kGiB, true, Severity::warning,
     "The system promises no more memory than it has (vm.overcommit_memory=2), and can promise only ",
     "MemoryError, or OSError: Cannot allocate memory when a process is forked, with memory still free",
     "sysctl -w vm.overcommit_memory=0   # as root"},
};

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

void find_resource_limits(const Exam& exam, Findings& findings) {
  for (const Rule& rule : kRules) {
    const auto limit = exam.system.limits.find(rule.limit);
    if (limit == exam.system.limits.end() || limit->second >= rule.below) continue;
    const std::string shown = rule.bytes ? show_bytes(limit->second) : std::to_string(limit->second);
    const auto hard = exam.system.hard_limits.find(rule.limit);
    const bool fixed = hard != exam.system.hard_limits.end() && hard->second < rule.below;
    findings.push_back({"",
                        rule.severity,
                        Sureness::likely,
                        concat(rule.what, shown, rule.unit),
                        {concat(fixed ? "soft and hard limit RLIMIT_" : "soft limit RLIMIT_",
                                upper_case(rule.limit), " = ", limit->second)},
                        rule.leads_to,
                        fixed ? concat("The hard limit forbids `", rule.fix,
                                       "` here: start a new session where it is not set (a job of the "
                                       "scheduler on a login node), or have it raised in "
                                       "/etc/security/limits.conf.")
                              : rule.fix});
  }
}

}  // namespace plimsoll::doctor

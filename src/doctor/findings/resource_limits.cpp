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
};

}  // namespace

void find_resource_limits(const Exam& exam, Findings& findings) {
  for (const Rule& rule : kRules) {
    const auto limit = exam.system.limits.find(rule.limit);
    if (limit == exam.system.limits.end() || limit->second >= rule.below) continue;
    const std::string shown = rule.bytes ? show_bytes(limit->second) : std::to_string(limit->second);
    findings.push_back({"",
                        rule.severity,
                        Sureness::likely,
                        rule.what + shown,
                        {concat("soft limit RLIMIT_", rule.limit, " = ", limit->second)},
                        rule.leads_to,
                        rule.fix});
  }
}

}  // namespace plimsoll::doctor

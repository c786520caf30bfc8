// Memory that is less than the installed frameworks take before they do any work.
#include <algorithm>

#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr uint64_t kMiB = 1u << 20, kGiB = 1u << 30;

// Resident size after import (TensorFlow 2.21 and JAX 0.10 as `doctor --import` shows them, the CPU build of
// PyTorch), and roughly what a first small model takes.
struct Need {
  const char* project;
  uint64_t import, work;
};
constexpr Need kNeeds[] = {{"tensorflow", 600 * kMiB, 900 * kMiB}, {"tensorflow-cpu", 600 * kMiB, 900 * kMiB},
                           {"torch", 250 * kMiB, 500 * kMiB},      {"jaxlib", 150 * kMiB, 400 * kMiB},
                           {"keras", 150 * kMiB, 300 * kMiB},      {"scikit-learn", 130 * kMiB, 200 * kMiB}};

const Need* largest_need(const Environment& environment) {
  const Need* largest = nullptr;
  for (const Need& need : kNeeds) {
    if (environment.find(need.project) && (!largest || need.work > largest->work)) largest = &need;
  }
  return largest;
}

void check_limit(const Exam& exam, const Need& need, Findings& findings) {
  const auto limit = exam.system.container_limit;
  if (!limit || *limit >= need.work) return;
  Finding f;
  f.severity = *limit < need.import ? Severity::error : Severity::warning;
  f.sureness = Sureness::likely;
  f.what = concat("The container may use ", show_bytes(*limit), "; ", need.project, " needs about ",
                  show_bytes(need.work), " for a first small model");
  f.evidence = {concat("limit of the control group: ", show_bytes(*limit)),
                concat(need.project, " after import: about ", show_bytes(need.import))};
  f.leads_to = "The kernel is killed without a word (SIGKILL by the out-of-memory killer)";
  f.fix = concat("docker run --memory=", std::max<uint64_t>(2, need.work * 2 / kGiB),
                 "g ...   # or a larger machine");
  findings.push_back(f);
}

void check_room(const Exam& exam, const Need& need, Findings& findings) {
  const auto available = exam.system.memory_available;
  uint64_t room = available.value_or(UINT64_MAX);
  if (exam.system.container_room) room = std::min(room, *exam.system.container_room);
  const bool limit_said = exam.system.container_limit && *exam.system.container_limit < need.work;
  if (limit_said || room >= need.import) return;
  Finding f;
  f.severity = Severity::warning;
  f.sureness = Sureness::likely;
  f.what = concat("Only ", show_bytes(room), " of memory is free; importing ", need.project, " takes about ",
                  show_bytes(need.import));
  f.evidence = {available ? "available: " + show_bytes(*available)
                          : "left in the container: " + show_bytes(room)};
  f.leads_to = "The kernel, or another program, is killed when memory runs out";
  f.fix = "ps aux --sort=-rss | head   # close what is not needed, such as kernels of other notebooks";
  findings.push_back(f);
}

void check_swap(const Exam& exam, Findings& findings) {
  const System& s = exam.system;
  if (!s.memory_total || !s.swap_total || *s.swap_total > 0 || *s.memory_total >= 4 * kGiB ||
      s.container_limit)
    return;
  const bool little = *s.memory_total < 2 * kGiB;
  Finding f;
  f.severity = little ? Severity::warning : Severity::note;
  f.sureness = Sureness::possible;
  f.what = concat("The machine has ", show_bytes(*s.memory_total), " of memory and no swap");
  f.evidence = {"/proc/meminfo: SwapTotal: 0"};
  f.leads_to = "A peak of memory kills the kernel at once, where swap would have slowed it down";
  f.fix = "fallocate -l 4G /swapfile && chmod 600 /swapfile && mkswap /swapfile && swapon /swapfile";
  findings.push_back(f);
}

}  // namespace

void find_memory_limit(const Exam& exam, Findings& findings) {
  const Need* need = largest_need(exam.environment);
  if (!need) return;
  check_limit(exam, *need, findings);
  check_room(exam, *need, findings);
  check_swap(exam, findings);
}

}  // namespace plimsoll::doctor

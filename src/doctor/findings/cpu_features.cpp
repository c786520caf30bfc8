// Instructions that libraries use and this processor does not have.
#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Official x86-64 wheels that use these instructions without asking. Files rarely say so themselves.
struct Rule {
  const char* project;
  const char* versions;
  const char* features;  // as in /proc/cpuinfo
  const char* instead;
};
constexpr Rule kRules[] = {
    {"tensorflow", ">=1.6", "avx", "TensorFlow from conda-forge, which is built without AVX"},
    {"tensorflow-cpu", ">=1.6", "avx", "TensorFlow from conda-forge, which is built without AVX"},
    {"tensorflow-gpu", ">=1.6", "avx", "TensorFlow from conda-forge, which is built without AVX"},
    {"jaxlib", ">=0.1.60", "avx", "jaxlib from source, with --target_cpu_features=release"},
    {"polars", ">=0.20,<1.34", "avx2 fma bmi1 bmi2", "polars-lts-cpu"},
    {"numpy", ">=2.4", "ssse3 sse4_1 sse4_2 popcnt", "numpy<2.4"},
    {"pyarrow", ">=1", "sse4_2", "pyarrow from source"},
};

void check_rules(const Exam& exam, Findings& findings) {
  for (const Rule& rule : kRules) {
    const Distribution* d = exam.environment.find(rule.project);
    if (!d || !d->version || !Specifiers::parse(rule.versions)->contains(*d->version)) continue;
    std::vector<std::string> absent;
    for (const std::string_view feature : split(rule.features, " ")) {
      if (!exam.system.has_cpu(feature)) absent.emplace_back(feature);
    }
    if (absent.empty()) continue;
    Finding f;
    f.severity = Severity::error;
    f.sureness = Sureness::likely;
    f.what = concat(d->shown(), " uses instructions this processor lacks: ", join(absent, ", "));
    f.evidence = {concat("/proc/cpuinfo: flags without ", join(absent, ", "))};
    f.leads_to = "Illegal instruction (SIGILL): the kernel dies at import";
    if (contains(rule.instead, " ")) {
      f.fix = concat("Install ", rule.instead, ", or use a newer machine.");
    } else {
      f.installs = {{rule.instead, "", false}};
      if (!std::string_view(rule.instead).starts_with(d->name + "<")) f.removes = {d->name};
    }
    findings.push_back(f);
  }
}

// What the linker recorded in the library itself (-z x86-64-v3).
void check_notes(const Exam& exam, Findings& findings) {
  const int level = exam.system.x86_level();
  if (level == 0) return;
  for (const auto& library : exam.libraries.all()) {
    if (!library->elf || !library->in_environment || library->elf->x86_level() <= level) continue;
    if (contains(library->path.string(), "glibc-hwcaps")) continue;  // chosen by the loader if it fits
    Finding f;
    f.severity = library->reachable ? Severity::error : Severity::note;
    f.what = concat(library->shown, " needs x86-64-v", library->elf->x86_level(),
                    "; this processor is x86-64-v", level);
    f.evidence = {"its GNU property note"};
    f.leads_to = "CPU ISA level is lower than required, or an illegal instruction (SIGILL)";
    if (library->owner) {
      f.fix = concat(InstallCommand{{library->owner->name}, false, true, false}.text(exam), " --no-binary ",
                     shell_word(library->owner->name));
    } else {
      f.fix = "Use a build for older processors.";
    }
    findings.push_back(f);
  }
}

}  // namespace

void find_cpu_features(const Exam& exam, Findings& findings) {
  if (exam.system.machine != "x86_64" || exam.environment.machine != "x86_64" ||
      exam.system.cpu_features.empty()) {
    return;
  }
  check_rules(exam, findings);
  check_notes(exam, findings);
}

}  // namespace plimsoll::doctor

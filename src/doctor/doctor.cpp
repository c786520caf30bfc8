// examine(): readings first, then every finding over the same Exam.
#include "plimsoll/doctor.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/kernelspec.h"
#include "doctor/program_file.h"
#include "doctor/treatment.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

System take_readings(const Options& options) {
  if (options.system.empty()) return read_system();
  const std::optional<std::string> text = read_text(options.system);
  if (!text) fail(ErrorKind::not_found, "doctor", "cannot read ", options.system.string());
  System system = System::from_json(*text);
  std::error_code ignored;
  if (system.folder.empty()) system.folder = std::filesystem::current_path(ignored).string();
  return system;
}

void run_check(const FindingFile& file, const Exam& exam, Findings& out) {
  Findings found;
  file.find(exam, found);
  for (Finding& f : found) {
    f.id = file.id;
    out.push_back(std::move(f));
  }
}

// Checks that look at variables.
bool reads_variables(std::string_view id) {
  for (const std::string_view reader :
       {"tensorflow_mix", "keras_backend", "gpu_settings", "settings", "python_path", "protobuf",
        "libc_too_old", "hidden_packages", "proj_data"}) {
    if (id == reader) return true;
  }
  return false;
}

// What the variables of a kernelspec bring about in the notebooks that use it.
void check_kernelspec(const Exam& shell, const KernelSpec& spec, Findings& findings) {
  const System system = with_variables(shell.system, spec);
  if (!spec.runs_environment || system.environment == shell.system.environment) return;
  const bool other_path = system.variable("PYTHONPATH") != shell.system.variable("PYTHONPATH");
  const bool other_libraries = system.variable("LD_LIBRARY_PATH") != shell.system.variable("LD_LIBRARY_PATH");
  std::optional<Environment> environment;
  if (other_path) environment = read_environment(shell.environment.python, system);
  const Environment& used = environment ? *environment : shell.environment;
  std::optional<Libraries> libraries;
  if (other_path || other_libraries) libraries = Libraries::read(used, system);
  const Exam exam{shell.options, system, used, libraries ? *libraries : shell.libraries, spec.file};
  Findings found;
  for (const FindingFile& file : finding_files()) {
    const bool other_packages = other_path && (std::string_view(file.id) == "other_python" ||
                                               std::string_view(file.id) == "requirements");
    const bool other_files = other_libraries && std::string_view(file.id) == "damaged_libraries";
    if (reads_variables(file.id) || other_packages || other_files) run_check(file, exam, found);
  }
  std::erase_if(found, [&](const Finding& f) {
    return f.severity == Severity::note ||
           std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& other) { return other.what == f.what; });
  });
  settle_fixes(exam, found);
  for (Finding& f : found) {
    f.evidence.push_back(concat("set by the Jupyter kernel ", spec.file.string()));
    f.installs.clear();
    f.removes.clear();
    findings.push_back(std::move(f));
  }
}

// What was asked for first, then causes before what follows from them.
int order_of(std::string_view id) {
  int order = 0;
  for (const std::string_view earlier :
       {"model",           "post_mortem",     "interpreter",       "settings",
        "python_path",     "hidden_packages", "path_files",        "standard_library",
        "architecture",    "other_python",    "damaged_libraries", "damaged_files",
        "broken_packages", "leftovers",       "requirements",      "jax_versions",
        "tensorflow_mix",  "keras_backend",   "protobuf",          "numpy_abi",
        "needed_modules",  "libc_too_old",    "undefined_symbols", "missing_libraries"}) {
    if (id == earlier) return order;
    ++order;
  }
  return order;
}

}  // namespace

namespace {

Diagnosis examine_all(const Options& options, System system) {
  const auto start = std::chrono::steady_clock::now();
  const std::filesystem::path where =
      options.environment.empty() ? default_environment(system) : options.environment;
  // Python puts the folder of the program that it runs first on the path.
  if (is_program(options.model) && !options.model.parent_path().empty())
    system.folder = std::filesystem::absolute(options.model).parent_path().string();
  const Environment environment =
      read_environment(std::filesystem::absolute(where).lexically_normal(), system);
  if (options.system.empty()) {
    const std::filesystem::path packages =
        environment.sites.empty() ? environment.prefix : environment.sites.front();
    read_disks(system, environment.prefix.string(), packages.string());
  }
  const Libraries libraries = Libraries::read(environment, system);
  const Exam exam{options, system, environment, libraries, {}};

  Diagnosis diagnosis;
  diagnosis.environment = environment.shown();
  diagnosis.distributions = environment.distributions.size();
  for (const auto& library : libraries.all()) diagnosis.libraries += library->in_environment;
  diagnosis.system_json = system.json();
  for (const FindingFile& file : finding_files()) run_check(file, exam, diagnosis.findings);
  for (const KernelSpec& spec : read_kernelspecs(environment, system))
    check_kernelspec(exam, spec, diagnosis.findings);
  merge_many(exam, diagnosis.findings);
  settle_fixes(exam, diagnosis.findings);
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.severity != b.severity) return a.severity > b.severity;
                     if (a.sureness != b.sureness) return a.sureness > b.sureness;
                     return order_of(a.id) < order_of(b.id);
                   });
  diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return diagnosis;
}

constexpr size_t kStack = 8u << 20;

bool is_short_of_stack() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < (1u << 20);
}

Diagnosis examine_here(const Options& options) {
  const System system = take_readings(options);
  try {
    return examine_all(options, system);
  } catch (const std::bad_alloc&) {
    // The limit that stops us stops Python and its packages all the more: it is the diagnosis.
    const Environment environment;
    const Libraries libraries;
    const Exam exam{options, system, environment, libraries, {}};
    Diagnosis diagnosis;
    diagnosis.environment = "not examined: memory ran out";
    diagnosis.system_json = system.json();
    for (const FindingFile& file : finding_files()) {
      if (std::string_view(file.id) == "resource_limits") run_check(file, exam, diagnosis.findings);
    }
    if (diagnosis.findings.empty()) throw;
    return diagnosis;
  }
}

struct Work {
  const Options& options;
  Diagnosis diagnosis;
  std::exception_ptr thrown;
};

void* work_on(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  try {
    work.diagnosis = examine_here(work.options);
  } catch (...) {
    work.thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

Diagnosis examine(const Options& options) {
  if (!is_short_of_stack()) return examine_here(options);
  // Where the stack is limited to some kilobytes the doctor would end as what it examines does: it works on
  // stacks of its own.
  Work work{options, {}, {}};
  pthread_attr_t roomy;
  ::pthread_attr_init(&roomy);
  ::pthread_attr_setstacksize(&roomy, kStack);
#ifdef __GLIBC__
  ::pthread_setattr_default_np(&roomy);  // of the threads that it starts, too
#endif
  pthread_t thread;
  const int error = ::pthread_create(&thread, &roomy, work_on, &work);
  ::pthread_attr_destroy(&roomy);
  if (error != 0) return examine_here(options);
  ::pthread_join(thread, nullptr);
  if (work.thrown) std::rethrow_exception(work.thrown);
  return std::move(work.diagnosis);
}

}  // namespace plimsoll::doctor

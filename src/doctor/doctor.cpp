// examine(): readings first, then every finding over the same Exam.
#include "plimsoll/doctor.h"

#include <algorithm>
#include <chrono>

#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

System take_readings(const Options& options) {
  if (options.system.empty()) return read_system();
  const std::optional<std::string> text = read_text(options.system);
  if (!text) fail(ErrorKind::not_found, "doctor", "cannot read ", options.system.string());
  return System::from_json(*text);
}

}  // namespace

Diagnosis examine(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  System system = take_readings(options);
  const std::filesystem::path where =
      options.environment.empty() ? default_environment(system) : options.environment;
  const Environment environment =
      read_environment(std::filesystem::absolute(where).lexically_normal(), system);
  if (options.system.empty()) read_disks(system, environment.prefix.string());
  const Libraries libraries = Libraries::read(environment, system);
  const Exam exam{options, system, environment, libraries};

  Diagnosis diagnosis;
  diagnosis.environment = environment.shown();
  diagnosis.distributions = environment.distributions.size();
  for (const auto& library : libraries.all()) diagnosis.libraries += library->in_environment;
  diagnosis.system_json = system.json();
  for (const FindingFile& file : finding_files()) {
    Findings found;
    file.find(exam, found);
    for (Finding& f : found) {
      f.id = file.id;
      diagnosis.findings.push_back(std::move(f));
    }
  }
  std::stable_sort(diagnosis.findings.begin(), diagnosis.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     return a.severity != b.severity ? a.severity > b.severity : a.sureness > b.sureness;
                   });
  diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return diagnosis;
}

}  // namespace plimsoll::doctor

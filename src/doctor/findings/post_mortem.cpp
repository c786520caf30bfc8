// A report the guard wrote about a dead kernel, read in the light of this environment.
#include <nlohmann/json.hpp>

#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

std::vector<std::string> texts(const nlohmann::json& report, const char* key) {
  std::vector<std::string> out;
  const auto found = report.find(key);
  if (found == report.end() || !found->is_array()) return out;
  for (const auto& item : *found) {
    if (item.is_string()) out.push_back(item);
  }
  return out;
}

std::string text(const nlohmann::json& report, const char* key) {
  const auto found = report.find(key);
  return found != report.end() && found->is_string() ? found->get<std::string>() : "";
}

// The library the fault lies in, as this environment knows it.
const Library* culprit(const Exam& exam, const nlohmann::json& report) {
  const auto faults = report.find("faults");
  if (faults == report.end() || !faults->is_array()) return nullptr;
  for (const auto& fault : *faults) {
    if (!fault.is_object()) continue;
    const std::filesystem::path module = text(fault, "module");
    if (module.empty()) continue;
    for (const auto& library : exam.libraries.all()) {
      if (library->path == module || real_path(library->path) == module) return library.get();
    }
  }
  return nullptr;
}

bool is_native(const std::string& cause) {
  return cause == "segfault" || cause == "illegal_instruction" || cause == "bus_error" ||
         cause == "failed_check" || cause == "aborted";
}

}  // namespace

void find_post_mortem(const Exam& exam, Findings& findings) {
  if (exam.options.post_mortem.empty()) return;
  const std::optional<std::string> content = read_text(exam.options.post_mortem, 64u << 20);
  if (!content) fail(ErrorKind::not_found, "doctor", "cannot read ", exam.options.post_mortem.string());
  const nlohmann::json report = nlohmann::json::parse(*content, nullptr, false);
  if (!report.is_object() || text(report, "cause").empty()) {
    fail(ErrorKind::bad_file, "doctor", exam.options.post_mortem.string(), " is no report of a death");
  }
  const std::string cause = text(report, "cause");
  const Library* library = culprit(exam, report);
  Finding f;
  f.severity = Severity::error;
  const auto certain = report.find("certain");
  f.sureness = certain != report.end() && *certain == true ? Sureness::certain : Sureness::likely;
  f.what = concat("The kernel died (", cause, "): ", text(report, "title"));
  f.evidence = texts(report, "evidence");
  if (library) {
    f.evidence.push_back(concat("it died in ", library->shown,
                                library->owner ? " of " + library->owner->shown() : std::string()));
  }
  const std::vector<std::string> advice = texts(report, "advice");
  f.leads_to = "It will happen again as long as the cause is there; the other findings here may name it.";
  if (is_native(cause) && library && library->owner) {
    f.installs = reinstall(*library->owner);
  } else if (!advice.empty()) {
    f.fix = advice.front();
  }
  findings.push_back(f);
}

}  // namespace plimsoll::doctor

// What installed projects require of one another, and what is installed.
#include <algorithm>
#include <map>
#include <set>

#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Other builds of one and the same package, under names of their own.
const std::vector<std::vector<std::string>> kSameThing = {
    {"tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-macos", "tensorflow-intel",
     "tensorflow-rocm", "tensorflow-cpu-aws", "tensorflow-aarch64", "tf-nightly", "tf-nightly-cpu"},
    {"opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"},
    {"onnxruntime", "onnxruntime-gpu"},
    {"faiss", "faiss-cpu", "faiss-gpu"},
    {"psycopg2", "psycopg2-binary"}};

const Distribution* stand_in(const Environment& environment, const std::string& name) {
  for (const auto& names : kSameThing) {
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    for (const std::string& other : names) {
      if (const Distribution* found = environment.find(other)) return found;
    }
  }
  return nullptr;
}

using Extras = std::set<std::string, std::less<>>;

// What an extra adds is required only of those who asked for it: pandas[excel].
bool applies(const Requirement& requirement, const Environment& environment, const Extras& extras) {
  if (requirement.marker.empty()) return true;
  const auto holds = [&](std::string_view extra) {
    return marker_holds(requirement.marker, environment.markers, extra).value_or(false);
  };
  return holds("") || std::any_of(extras.begin(), extras.end(), holds);
}

// The extras that installed projects ask of one another. Which ones a person asked for is written nowhere.
std::map<std::string, Extras> extras_asked_for(const Environment& environment) {
  std::map<std::string, Extras> all;
  for (const Distribution& by : environment.distributions) {
    for (const Requirement& r : by.requires_dist) {
      if (!r.extras.empty() && applies(r, environment, {}))
        all[normal_name(r.name)].insert(r.extras.begin(), r.extras.end());
    }
  }
  return all;
}

// NVIDIA's projects that an extra such as tensorflow[and-cuda] names. Where all of them are installed,
// someone asked for it, and their versions matter.
std::map<std::string, std::vector<const Requirement*>> gpu_extras(const Environment& environment,
                                                                  const Distribution& by) {
  std::map<std::string, std::vector<const Requirement*>> all;
  for (const Requirement& r : by.requires_dist) {
    const size_t at = r.marker.find("extra");
    const size_t open = at == std::string::npos ? at : r.marker.find_first_of("'\"", at);
    const size_t close = open == std::string::npos ? open : r.marker.find(r.marker[open], open + 1);
    if (close == std::string::npos || !normal_name(r.name).starts_with("nvidia-")) continue;
    const std::string extra = normal_name(r.marker.substr(open + 1, close - open - 1));
    if (applies(r, environment, {extra})) all[extra].push_back(&r);
  }
  std::erase_if(all, [&](const auto& entry) {
    return std::any_of(entry.second.begin(), entry.second.end(),
                       [&](const Requirement* r) { return !environment.find(normal_name(r->name)); });
  });
  return all;
}

Finding conflict(const Exam& exam, const Distribution& by, const Requirement& wanted,
                 const Distribution* have) {
  Finding f;
  f.severity = Severity::error;
  if (!have) {
    const auto folder = exam.environment.locate(wanted.name);
    f.what = concat(by.shown(), " requires ", wanted.name, ", which is not installed");
    if (!folder.empty()) f.evidence.push_back(concat(folder.string(), " is there, but no project owns it"));
    f.leads_to = concat("ModuleNotFoundError when ", by.name, " imports it");
  } else {
    f.what = concat(by.shown(), " requires ", wanted.name, " ", wanted.specifiers.text(), ", but ",
                    have->version_text, " is installed");
    f.leads_to =
        "Import errors, missing attributes or crashes, depending on what changed between the versions.";
    f.sureness = Sureness::likely;
  }
  f.evidence.push_back(concat(by.folder.filename().string(), ": Requires-Dist: ", wanted.text));
  const std::string extras = wanted.extras.empty() ? "" : concat("[", join(wanted.extras, ","), "]");
  f.installs = {
      {concat(have ? have->name : wanted.name, extras, wanted.specifiers.text()), by.normal, false}};
  return f;
}

// A project of metadata and data alone: whoever works in the environment imports nothing of it.
bool has_nothing_to_import(const Distribution& d) {
  return d.has_record && !d.editable &&
         std::none_of(d.record.begin(), d.record.end(), [](const RecordRow& row) {
           return row.path.ends_with(".py") || row.path.ends_with(".so") || row.path.ends_with(".pyc") ||
                  row.path.ends_with(".pth");
         });
}

// Whether every import of a module in a project's Python files is made for the case that it is not there:
// requests takes chardet in place of charset_normalizer. Of what is imported nowhere, nothing is known.
bool only_tried(const Environment& e, const Distribution& by, const std::string& wanted) {
  constexpr size_t kMostFiles = 200, kLongestFile = 1u << 20;
  std::string module = lower_case(wanted);
  std::replace(module.begin(), module.end(), '-', '_');
  size_t read = 0;
  bool found = false;
  for (const RecordRow& row : by.record) {
    if (!row.path.ends_with(".py") || contains(row.path, "tests/")) continue;
    if (++read > kMostFiles) return false;
    const std::string source = read_text(by.site / row.path, kLongestFile).value_or("");
    if (!contains(source, module)) continue;
    for (const ImportStatement& s : read_source(source, {e.major, e.minor, e.is_macos, false}).imports) {
      if (s.level > 0 || s.module.substr(0, s.module.find('.')) != module) continue;
      if (s.tried < 0 || s.insisted) return false;
      found = true;
    }
  }
  return found;
}

// Many that are missing of one project are one finding.
constexpr size_t kFew = 3;

void add_missing(const Distribution& by, std::vector<Finding> missing, Findings& findings) {
  if (missing.size() <= kFew) {
    findings.insert(findings.end(), missing.begin(), missing.end());
    return;
  }
  Finding f = missing.front();
  std::vector<std::string> names;
  f.installs.clear();
  f.evidence.clear();
  for (const Finding& one : missing) {
    f.installs.push_back(one.installs.front());
    f.evidence.push_back(one.evidence.back());
    const auto r = Requirement::parse(one.installs.front().requirement);
    names.push_back(r ? r->name : one.installs.front().requirement);
  }
  f.what = concat(by.shown(), " requires ", some_of(names, 5), ", which are not installed");
  f.evidence = {some_of(f.evidence, 3)};
  findings.push_back(f);
}

void check_gpu_extras(const Exam& exam, const Distribution& by, Findings& findings) {
  for (const auto& [extra, requirements] : gpu_extras(exam.environment, by)) {
    for (const Requirement* wanted : requirements) {
      const Distribution* have = exam.environment.find(normal_name(wanted->name));
      if (!have->version || wanted->specifiers.contains(*have->version)) continue;
      Finding f = conflict(exam, by, *wanted, have);
      f.severity = Severity::warning;
      f.leads_to = "The graphics card is not used, or cuDNN and CUDA errors at the first operation on it";
      findings.push_back(f);
    }
  }
}

}  // namespace

void find_requirements(const Exam& exam, Findings& findings) {
  const Environment& environment = exam.environment;
  const auto extras = extras_asked_for(environment);
  for (const Distribution& by : environment.distributions) {
    if (environment.find(by.normal) != &by) continue;
    check_gpu_extras(exam, by, findings);
    const auto asked = extras.find(by.normal);
    std::vector<Finding> missing;
    for (const Requirement& wanted : by.requires_dist) {
      if (!applies(wanted, environment, asked == extras.end() ? Extras() : asked->second)) continue;
      const std::string name = normal_name(wanted.name);
      const Distribution* have = environment.find(name);
      const Distribution* other = have ? nullptr : stand_in(environment, name);
      const Distribution* present = have ? have : other;
      if (present && (!present->version || wanted.specifiers.contains(*present->version))) {
        if (!other) continue;
        Finding f;
        f.what = concat(by.shown(), " requires ", wanted.name, "; ", other->shown(), " stands in for it");
        f.evidence = {concat("Requires-Dist: ", wanted.text)};
        f.leads_to = concat("It works, but pip will install ", wanted.name, " over it when ", by.name,
                            " is upgraded.");
        findings.push_back(f);
        continue;
      }
      Finding f = conflict(exam, by, wanted, present);
      // The system's packager resolves its own packages and sometimes leaves parts out on purpose.
      if (by.egg || by.installer == "debian")
        f.severity = Severity::note;
      else if (has_nothing_to_import(by))
        f.severity = Severity::warning;
      // Nobody imports it: a copy of tables that most systems have.
      if (!present && name == "tzdata" && by.normal != "tzdata") {
        f.severity = Severity::warning;
        f.leads_to = "ZoneInfoNotFoundError for time zones, where the system has none of its own";
      }
      if (!present && f.severity == Severity::error && only_tried(environment, by, wanted.name)) {
        f.severity = Severity::warning;
        f.leads_to = concat(by.name, " goes without it, or with another in its place");
      }
      if (present)
        findings.push_back(f);
      else
        missing.push_back(f);
    }
    add_missing(by, std::move(missing), findings);
  }
}

}  // namespace plimsoll::doctor

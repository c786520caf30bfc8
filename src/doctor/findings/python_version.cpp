// Projects that do not support this version of Python.
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Where only "3.11" is known of the interpreter, any 3.11.x that fits will do.
bool supports(const Specifiers& wanted, const Environment& e) {
  if (wanted.contains(e.version)) return true;
  if (e.exact_version) return false;
  for (const char* last : {".0", ".99"}) {
    const auto guess = Version::parse(concat(e.major, ".", e.minor, last));
    if (guess && wanted.contains(*guess)) return true;
  }
  return false;
}

}  // namespace

void find_python_version(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  for (const Distribution& d : e.distributions) {
    const auto wanted = Specifiers::parse(d.requires_python);
    if (!wanted || wanted->empty() || supports(*wanted, e)) continue;
    Finding f;
    f.severity = Severity::error;
    f.sureness = Sureness::likely;
    f.what = concat(d.shown(), " does not support Python ", e.version.text());
    f.evidence = {concat(d.folder.filename().string(), ": Requires-Python: ", d.requires_python)};
    f.leads_to = "SyntaxError, missing modules of the standard library, or failures only when it runs";
    f.installs = {{concat(d.name, "!=", d.version_text), "", false}};
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor

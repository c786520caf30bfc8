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

// Projects whose metadata allows Pythons that came after them and that they cannot run on.
struct OlderThanPython {
  const char *project, *versions, *fixed;
  uint64_t minor;  // the first Python 3 that they do not run on
  const char* leads_to;
};
constexpr OlderThanPython kOlder[] = {
    {"pydantic", ">=1,<1.10.16", "pydantic>=1.10.16,<2", 13,
     "TypeError: ForwardRef._evaluate() missing 1 required keyword-only argument: 'recursive_guard'"},
    {"sqlalchemy", ">=2,<2.0.31", "sqlalchemy>=2.0.31", 13,
     "AssertionError: Class SQLCoreOperations directly inherits TypingOnly but has additional attributes"},
};

void older_than_python(const Exam& exam, Findings& findings) {
  for (const OlderThanPython& row : kOlder) {
    const Distribution* d = exam.environment.find(row.project);
    const auto versions = Specifiers::parse(row.versions);
    if (exam.environment.minor < row.minor || !d || !d->version || !versions ||
        !versions->contains(*d->version))
      continue;
    Finding f;
    f.severity = Severity::error;
    f.what = concat(d->shown(), " is older than Python ", exam.environment.version.text(),
                    " and does not run on it, though its metadata allows it");
    f.evidence = {d->folder.string()};
    f.leads_to = row.leads_to;
    f.installs = {{row.fixed, "", false}};
    findings.push_back(f);
  }
}

}  // namespace

void find_python_version(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  older_than_python(exam, findings);
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

// Projects that their metadata allows together and that fail all the same, in a way that neither symbols nor
// imports show: arguments that are no longer taken, entry points that are no longer a dict.
#include "doctor/known_pairs.h"

#include <optional>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/module_project.h"
#include "doctor/python/requirement.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

struct Pair {
  std::string_view one, other;  // requirements that both are met; "python" is the interpreter
  std::string_view remedy;      // a requirement; empty: only to do without the first
  std::string_view error;
  std::string_view variable = "", value = "";  // in place of a remedy: a setting with which they work
};

// Each was tried with real wheels.
constexpr Pair kPairs[] = {
    {"openai>=1,<1.55.3", "httpx>=0.28", "openai>=1.55.3",
     "TypeError: Client.__init__() got an unexpected keyword argument 'proxies', when a client is made"},
    {"anthropic<0.39", "httpx>=0.28", "anthropic>=0.42",
     "TypeError: Client.__init__() got an unexpected keyword argument 'proxies', when a client is made"},
    {"pyopenssl<22.1", "cryptography>=40", "pyopenssl>=23.2",
     "AttributeError: module 'lib' has no attribute 'X509_V_FLAG_NOTIFY_POLICY', at import OpenSSL"},
    {"ipython-sql<=0.5.0", "prettytable>=3.12", "prettytable<3.12",
     "KeyError: 'DEFAULT', at the first query"},
    {"passlib<=1.7.4", "bcrypt>=5", "bcrypt<5",
     "ValueError: password cannot be longer than 72 bytes, from bcrypt.hash"},
    {"setuptools<66", "python>=3.12", "setuptools>=66.1,<81",
     "AttributeError: module 'pkgutil' has no attribute 'ImpImporter', at import setuptools or "
     "pkg_resources"},
    {"markdown<=3.3.4", "python>=3.12", "markdown>=3.4.4",
     "AttributeError: 'EntryPoints' object has no attribute 'get', at import markdown"},
    {"tensorflow-hub<0.16", "tensorflow>=2.16", "tensorflow-hub>=0.16.1",
     "AttributeError: module 'tensorflow._api.v2.compat.v1' has no attribute 'estimator', at import "
     "tensorflow_hub"},
    {"keras-rl2<=1.0.5", "tensorflow>=2.16", "",
     "ImportError: cannot import name 'model_from_config' from 'tensorflow.keras.models', at import "
     "rl.agents"},
    {"segmentation-models<=1.0.1", "keras>=3", "",
     "AttributeError: module 'keras.utils' has no attribute 'generic_utils', at import segmentation_models",
     "SM_FRAMEWORK", "tf.keras"},
};

// What meets a requirement, as a person would call it; nothing if it is not here or another version.
std::optional<std::string> met(const Exam& exam, std::string_view text) {
  const Environment& e = exam.environment;
  const std::optional<Requirement> wanted = Requirement::parse(std::string(text));
  if (!wanted) return std::nullopt;
  if (wanted->name == "python") {
    const std::optional<Version> python = Version::parse(concat(e.major, ".", e.minor));
    return python && wanted->specifiers.contains(*python)
               ? std::optional(concat("Python ", e.major, ".", e.minor))
               : std::nullopt;
  }
  const Distribution* d = find_project(e, wanted->name);
  return d && d->version && wanted->specifiers.contains(*d->version) ? std::optional(d->shown())
                                                                     : std::nullopt;
}

// tf-keras has the first two numbers of the TensorFlow it belongs to, and a newer one would bring a newer
// TensorFlow.
void keep_tensorflow(const Exam& exam, Finding& f) {
  const Distribution* tensorflow = find_project(exam.environment, "tensorflow");
  if (f.installs.empty() || !f.installs[0].requirement.starts_with("tensorflow-hub") || !tensorflow) return;
  const Version& v = *tensorflow->version;
  f.installs.push_back({concat("tf-keras==", v.major(), ".", v.minor(), ".*"), "", false});
}

}  // namespace

bool has_known_remedy(const Exam& exam, const Distribution& project) {
  for (const Pair& pair : kPairs) {
    const std::optional<Requirement> one = Requirement::parse(pair.one);
    if (one && one->name == project.normal && pair.remedy.starts_with(one->name) && met(exam, pair.one) &&
        met(exam, pair.other))
      return true;
  }
  return false;
}

void find_known_pairs(const Exam& exam, Findings& findings) {
  for (const Pair& pair : kPairs) {
    const std::optional<std::string> one = met(exam, pair.one);
    const std::optional<std::string> other = one ? met(exam, pair.other) : std::nullopt;
    const bool set = !pair.variable.empty() && exam.system.variable(pair.variable) == pair.value;
    if (!other || set) continue;
    Finding f;
    f.severity = Severity::error;
    f.what = concat(*one, " does not work with ", *other, ", though its metadata allows it");
    f.evidence = {concat(pair.one, " and ", pair.other)};
    f.leads_to = pair.error;
    if (!pair.remedy.empty()) f.installs = {{std::string(pair.remedy), "", false}};
    if (!pair.variable.empty()) f.fix = set_command(exam, pair.variable, pair.value);
    if (pair.remedy.empty() && pair.variable.empty())
      f.removes = {Requirement::parse(std::string(pair.one))->name};
    keep_tensorflow(exam, f);
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor

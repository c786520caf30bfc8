// More than one TensorFlow in one environment, and plug-ins and Keras that belong to another.
#include <optional>

#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

const char* const kTensorflows[] = {
    "tensorflow",         "tensorflow-cpu",     "tensorflow-gpu", "tensorflow-macos", "tensorflow-rocm",
    "tensorflow-cpu-aws", "tensorflow-aarch64", "tf-nightly",     "tf-nightly-cpu",   "intel-tensorflow"};

bool requires_it(const Distribution& by, const Distribution& what) {
  for (const Requirement& r : by.requires_dist) {
    if (normal_name(r.name) == what.normal) return true;
  }
  return false;
}

void several(const std::vector<const Distribution*>& installed, Findings& findings) {
  for (size_t i = 0; i < installed.size(); ++i) {
    for (size_t j = i + 1; j < installed.size(); ++j) {
      const Distribution &a = *installed[i], &b = *installed[j];
      // On some systems `tensorflow` is a name that only pulls in the real one.
      if (a.version_text == b.version_text && (requires_it(a, b) || requires_it(b, a))) continue;
      Finding f;
      f.severity = a.version_text == b.version_text ? Severity::warning : Severity::error;
      f.what = concat(a.shown(), " and ", b.shown(), " are both installed");
      f.evidence = {"both own the folder tensorflow/"};
      f.leads_to =
          "Python files of one load native libraries of the other: undefined symbols or a crash at import";
      f.removes = {b.name};
      f.installs = reinstall(a);
      findings.push_back(f);
    }
  }
}

void keras(const Exam& exam, const Distribution& tensorflow, Findings& findings) {
  const Distribution* keras = exam.environment.find("keras");
  const Distribution* legacy = exam.environment.find("tf-keras");
  const auto& version = tensorflow.version;
  if (!version) return;
  const std::string_view setting = exam.system.variable("TF_USE_LEGACY_KERAS");
  const bool wants_legacy = setting == "1" || setting == "true" || setting == "True";
  const std::string same = concat(version->major(), ".", version->minor(), ".*");
  if (wants_legacy && !legacy && *version >= *Version::parse("2.16")) {
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        "TF_USE_LEGACY_KERAS is set, but tf-keras is not installed",
                        {concat("TF_USE_LEGACY_KERAS=", setting)},
                        "ImportError when tf.keras is first used",
                        "",
                        {{"tf-keras==" + same, "", false}}});
  }
  if (keras && keras->version && *version < *Version::parse("2.16") && keras->version->major() >= 3) {
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(keras->shown(), " is too new for ", tensorflow.shown(), ", which is built on Keras 2"),
         {concat("tf.keras of ", tensorflow.version_text, " imports the installed keras")},
         "AttributeError or ImportError when tf.keras is first used",
         "",
         {{"keras==" + same, tensorflow.normal, false}}});
  }
  if (keras && keras->version && *version >= *Version::parse("2.16.0") && keras->version->major() < 3 &&
      !wants_legacy) {
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(keras->shown(), " is too old for ", tensorflow.shown(), ", which needs Keras 3"),
         {concat("tf.keras of ", tensorflow.version_text, " imports the installed keras")},
         "AttributeError: module 'tensorflow.keras' has no attribute ...",
         "",
         {{"keras>=3", tensorflow.normal, false}}});
  }
  if (legacy && legacy->version &&
      (legacy->version->major() != version->major() || legacy->version->minor() != version->minor())) {
    findings.push_back(
        {"",
         Severity::error,
         Sureness::likely,
         concat(legacy->shown(), " belongs to another TensorFlow than ", tensorflow.version_text),
         {"tf-keras and TensorFlow share their first two version numbers"},
         "ImportError or AttributeError when tf_keras is imported",
         "",
         {{"tf-keras==" + same, "", false}}});
  }
}

// "2.18" of `required_tensorflow_version = '2.18'` in the code of TensorFlow Probability.
std::optional<Version> required_by_code(const Exam& exam) {
  const auto file = exam.environment.locate("tensorflow_probability/python/__init__.py");
  const std::string text = file.empty() ? "" : read_text(file, 1u << 16).value_or("");
  constexpr std::string_view kStart = "\n  required_tensorflow_version = '";
  const size_t at = text.find(kStart);
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(at + kStart.size());
  return Version::parse(rest.substr(0, rest.find('\'')));
}

// The newest TensorFlow Probability whose code takes this TensorFlow, by what each release asks for.
std::string probability_for(const Version& tensorflow) {
  const std::pair<const char*, const char*> releases[] = {
      {"2.18", "0.25.*"}, {"2.16", "0.24.*"}, {"2.15", "0.23.*"}, {"2.14", "0.22.*"},
      {"2.13", "0.21.*"}, {"2.12", "0.20.*"}, {"2.11", "0.19.*"}};
  for (const auto& [least, release] : releases) {
    if (tensorflow >= *Version::parse(least)) return concat("tensorflow-probability==", release);
  }
  return "";
}

// TensorFlow Probability asks for it at its first use; its metadata only for those who take the extra "tf".
void probability(const Exam& exam, const Distribution& tensorflow, Findings& findings) {
  const Distribution* tfp = exam.environment.find("tensorflow-probability");
  if (!tfp || !tfp->version || !tensorflow.version) return;
  const auto least = required_by_code(exam);
  if (const std::string older = probability_for(*tensorflow.version);
      least && *tensorflow.version < *least && !older.empty()) {
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(tfp->shown(), " requires TensorFlow ", least->text(), " or newer; ", tensorflow.shown(),
                " is installed"),
         {"checked by tensorflow_probability/python/__init__.py, not by its metadata"},
         "ImportError: This version of TensorFlow Probability requires TensorFlow version >= " +
             least->text(),
         "",
         {{older, "", false}}});
  }
  if (exam.environment.find("tf-keras")) return;
  if (*tfp->version < *Version::parse("0.24") || *tensorflow.version < *Version::parse("2.16")) return;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       concat(tfp->shown(), " needs tf-keras beside ", tensorflow.shown(), "; it is not installed"),
       {tfp->folder.string()},
       "ModuleNotFoundError: No module named 'tf_keras' when its first part is used",
       "",
       {{concat("tf-keras==", tensorflow.version->major(), ".", tensorflow.version->minor(), ".*"), "",
         false}}});
}

// Transformers (until 5) refuses Keras 3 when its models for TensorFlow are imported.
void transformers(const Exam& exam, const Distribution& tensorflow, Findings& findings) {
  const Environment& e = exam.environment;
  const Distribution *project = e.find("transformers"), *keras = e.find("keras");
  if (!project || !keras || !keras->version || keras->version->major() < 3 || e.find("tf-keras") ||
      !tensorflow.version || *tensorflow.version < *Version::parse("2.16"))
    return;
  const auto file = e.locate("transformers/activations_tf.py");
  const std::string text = file.empty() ? "" : read_text(file, 1u << 16).value_or("");
  if (!contains(text, "import tf_keras")) return;
  findings.push_back(
      {"",
       e.find("torch") ? Severity::warning : Severity::error,  // or its models run on PyTorch
       Sureness::certain,
       concat(project->shown(), " does not fit ", keras->shown(), ": its models for ", tensorflow.shown(),
              " need tf-keras, which is not installed"),
       {file.string()},
       "ValueError: Your currently installed version of Keras is Keras 3, but this is not yet "
       "supported in Transformers",
       "",
       {{concat("tf-keras==", tensorflow.version->major(), ".", tensorflow.version->minor(), ".*"), "",
         false}}});
}

void metal(const Exam& exam, const Distribution* tensorflow, Findings& findings) {
  const Distribution* plug_in = exam.environment.find("tensorflow-metal");
  if (!plug_in) return;
  if (!exam.environment.is_macos) {
    findings.push_back({"",
                        Severity::warning,
                        Sureness::certain,
                        concat(plug_in->shown(), " is for macOS only"),
                        {exam.environment.shown()},
                        "TensorFlow fails to load it at import",
                        "",
                        {},
                        {"tensorflow-metal"}});
  } else if (!tensorflow) {
    findings.push_back({"",
                        Severity::warning,
                        Sureness::certain,
                        concat(plug_in->shown(), " is installed, TensorFlow is not"),
                        {},
                        "No module tensorflow",
                        "",
                        {{"tensorflow", "", false}}});
  }
}

}  // namespace

void find_tensorflow_mix(const Exam& exam, Findings& findings) {
  std::vector<const Distribution*> installed;
  for (const char* name : kTensorflows) {
    if (const Distribution* d = exam.environment.find(name)) installed.push_back(d);
  }
  several(installed, findings);
  metal(exam, installed.empty() ? nullptr : installed.front(), findings);
  if (installed.empty()) return;
  keras(exam, *installed.front(), findings);
  probability(exam, *installed.front(), findings);
  transformers(exam, *installed.front(), findings);
}

}  // namespace plimsoll::doctor

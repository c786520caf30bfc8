#include "doctor/framework_settings.h"

#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// The texts in ['a', "b"], from the bracket on; comments are passed over.
std::vector<std::string> texts_of_list(std::string_view text) {
  std::vector<std::string> texts;
  const std::string_view inner = text.substr(1, text.find(']') - 1);
  for (const std::string_view part : split(inner, ",\n")) {
    const std::string_view item = trim(part);
    if (item.size() < 2 || (item[0] != '\'' && item[0] != '"') || item.back() != item[0]) continue;
    texts.emplace_back(item.substr(1, item.size() - 2));
  }
  return texts;
}

// JAX reads its switches when it is imported. What each of them takes stands in the file that makes them:
// bool_state(name='jax_enable_x64', ...), enum_state(name='jax_...', enum_values=['a', 'b'], ...).
void jax_switches(const Exam& exam, Findings& findings) {
  const fs::path file = exam.environment.locate("jax/_src/config.py");
  const std::string source = file.empty() ? "" : read_text(file, 1u << 20).value_or("");
  for (const auto& [name, given] : exam.system.environment) {
    if (!name.starts_with("JAX_") || given.empty()) continue;
    const size_t at = source.find(concat("name='", lower_case(name), "'"));
    const size_t open = source.rfind('(', at), next = source.find("name='", at + 6);
    if (at == std::string::npos || open == std::string::npos) continue;
    const std::string_view before = std::string_view(source).substr(0, open);
    if (before.ends_with("bool_state")) {
      const std::string value = lower_case(given);
      if (is_one_of(value, {"y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0"}))
        continue;
      add_setting(exam, Severity::error, name, concat(name, " is neither true nor false"),
                  concat("ValueError: invalid truth value '", value, "' at import jax"), findings);
    } else if (before.ends_with("enum_state")) {
      const size_t list = source.find("enum_values=[", at);
      if (list == std::string::npos || list > next) continue;
      const auto known = texts_of_list(std::string_view(source).substr(list + 12));
      if (known.size() < 2 || std::find(known.begin(), known.end(), given) != known.end()) continue;
      add_setting(exam, Severity::error, name, concat(name, " has a value that JAX does not know"),
                  concat("ValueError: new enum value must be in ", some_of(known, 12), ", at import jax"),
                  findings);
      findings.back().evidence.push_back("known: " + some_of(known, 12));
    }
  }
}

// NumPy is compiled for some instructions, and refuses to be told to do without these.
void numpy_features(const Exam& exam, Findings& findings) {
  const Distribution* numpy = exam.environment.find("numpy");
  if (!numpy) return;
  const std::string_view disabled = exam.system.variable("NPY_DISABLE_CPU_FEATURES");
  if (!trim(disabled).empty() && !trim(exam.system.variable("NPY_ENABLE_CPU_FEATURES")).empty())
    add_setting(exam, Severity::error, "NPY_DISABLE_CPU_FEATURES",
                "NPY_DISABLE_CPU_FEATURES and NPY_ENABLE_CPU_FEATURES are both set",
                "RuntimeError: Both NPY_DISABLE_CPU_FEATURES and NPY_ENABLE_CPU_FEATURES cannot be set, at "
                "import numpy",
                findings);
  for (const std::string_view word : split(disabled, " ,\t\n")) {
    const bool always = exam.environment.machine == "x86_64" ? is_one_of(word, {"SSE", "SSE2", "SSE3"})
                                                             : is_one_of(word, {"NEON", "ASIMD"});
    if (!always) continue;
    add_setting(
        exam, Severity::error, "NPY_DISABLE_CPU_FEATURES",
        concat("NPY_DISABLE_CPU_FEATURES names ", word, ", which ", numpy->shown(), " cannot do without"),
        concat("RuntimeError: You cannot disable CPU feature '", word,
               "', since it is part of the baseline optimizations, at import numpy"),
        findings);
    return;
  }
}

// JAX_PLATFORMS names a backend whose plug-in is another project.
void jax_platforms(const Exam& exam, Findings& findings) {
  const std::string_view value = exam.system.variable("JAX_PLATFORMS");
  if (value.empty() || !exam.environment.find("jax")) return;
  const auto& all = exam.environment.distributions;
  const auto has = [&](std::string_view prefix) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Distribution& d) { return d.normal.starts_with(prefix); });
  };
  for (std::string_view platform : split(value, ",")) {
    platform = trim(platform);
    const bool known = is_one_of(platform, {"cpu", "cuda", "gpu", "rocm", "tpu", "METAL", "metal"});
    const bool there = platform == "cpu" ||
                       (is_one_of(platform, {"cuda", "gpu"}) && (has("jax-cuda") || has("jax-rocm"))) ||
                       (platform == "rocm" && has("jax-rocm")) || (platform == "tpu" && has("libtpu")) ||
                       (lower_case(platform) == "metal" && has("jax-metal"));
    if (there || (!known && has("jax-")) || platform.empty()) continue;
    add_setting(exam, Severity::error, "JAX_PLATFORMS",
                concat("JAX_PLATFORMS asks for ", platform, ", for which no plug-in is installed"),
                concat("RuntimeError: Unable to initialize backend '", platform, "', at the first array"),
                findings);
  }
}

// The program stops at a flag it does not know. Every flag's name is a text in the library that reads it.
void compiler_flags(const Exam& exam, const char* variable, Findings& findings) {
  const std::string_view flags = exam.system.variable(variable);
  if (!trim(flags).starts_with("--")) return;  // otherwise it is the name of a file
  std::vector<const Library*> readers;
  for (const auto& library : exam.libraries.all()) {
    const std::string name = library->path.filename().string();
    if (library->file &&
        (name.starts_with("libjax_common") || name.starts_with("xla_extension") || name == "_jax.so" ||
         name.starts_with("libtensorflow_cc") || name.starts_with("_pywrap_tensorflow_internal")))
      readers.push_back(library.get());
  }
  if (readers.empty()) return;
  for (const std::string_view word : split(flags, " \t\n")) {
    if (!word.starts_with("--xla") && !word.starts_with("--tf_xla")) continue;
    const std::string_view flag = word.substr(2, word.find('=') - 2);
    const bool known = std::any_of(readers.begin(), readers.end(), [&](const Library* l) {
      const std::string_view text = l->elf ? l->elf->read_only_data().text() : l->file->bytes().text();
      return text.empty() || contains(text, flag);
    });
    if (known) continue;
    add_setting(exam, Severity::error, variable,
                concat(variable, " has a flag that this XLA does not know: --", flag),
                concat("Unknown flags in ", variable, ": --", flag, "; the process is aborted"), findings);
  }
}

// Numba refuses less than one thread; what is no number it passes over.
void numba_threads(const Exam& exam, Findings& findings) {
  const std::string_view value = exam.system.variable("NUMBA_NUM_THREADS");
  const bool none =
      !value.empty() && (value[0] == '-' || value.find_first_not_of('0') == std::string_view::npos);
  if (!none || !exam.environment.find("numba")) return;
  add_setting(exam, Severity::error, "NUMBA_NUM_THREADS",
              concat("NUMBA_NUM_THREADS=", value, " asks for no thread at all"),
              "ValueError: Number of threads specified must be > 0, at import numba", findings);
}

// PyTorch knows names that it registers itself, and modules.
void torch_logs(const Exam& exam, Findings& findings) {
  const std::string value(exam.system.variable("TORCH_LOGS"));
  const fs::path file = exam.environment.locate("torch/_logging/_registrations.py");
  const std::string known = file.empty() ? "" : read_text(file, 1u << 20).value_or("");
  if (known.empty() || value.empty()) return;
  for (std::string_view name : split(value, ",")) {
    name = trim(name);
    if (!name.empty() && (name[0] == '+' || name[0] == '-')) name.remove_prefix(1);
    const std::string_view top = name.substr(0, name.find('.'));
    if (name == "all" || contains(known, concat("\"", name, "\"")) || exam.environment.path.find(top))
      continue;
    add_setting(exam, Severity::error, "TORCH_LOGS",
                concat("TORCH_LOGS has a name that PyTorch does not know: ", name),
                "ValueError: Invalid log settings, at import torch", findings);
    findings.back().evidence.push_back("known are \"all\", \"+dynamo\" and others, and names of modules");
    return;
  }
}

// python -OO leaves docstrings out, of which TensorFlow makes its lists of names.
void without_docstrings(const Exam& exam, Findings& findings) {
  const std::string_view level = exam.system.variable("PYTHONOPTIMIZE");
  const fs::path file = exam.environment.locate("tensorflow/python/util/all_util.py");
  if (level.empty() || !is_digit(level[0]) || level == "0" || level == "1" || file.empty()) return;
  if (!contains(read_text(file, 1u << 18).value_or(""), "(doc_module.__doc__)")) return;
  add_setting(
      exam, Severity::error, "PYTHONOPTIMIZE",
      concat("PYTHONOPTIMIZE=", level, " leaves out docstrings, without which TensorFlow is not imported"),
      "TypeError: expected string or bytes-like object, got 'NoneType', at import tensorflow", findings);
}

}  // namespace

void framework_settings(const Exam& exam, Findings& findings) {
  jax_switches(exam, findings);
  jax_platforms(exam, findings);
  numpy_features(exam, findings);
  compiler_flags(exam, "XLA_FLAGS", findings);
  if (exam.environment.path.find("tensorflow")) compiler_flags(exam, "TF_XLA_FLAGS", findings);
  numba_threads(exam, findings);
  torch_logs(exam, findings);
  without_docstrings(exam, findings);
}

}  // namespace plimsoll::doctor

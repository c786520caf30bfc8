// Environment variables whose value stops Python or a framework when it starts.
#include <algorithm>
#include <charconv>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

void add(const Exam& exam, Severity severity, std::string_view name, std::string what, std::string leads_to,
         Findings& findings) {
  findings.push_back({"",
                      severity,
                      Sureness::certain,
                      std::move(what),
                      {concat(name, "=", exam.system.variable(name))},
                      std::move(leads_to),
                      unset_command(exam, name)});
}

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> allowed) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

bool is_hash_seed(std::string_view value) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return value == "random" ||
         (error == std::errc() && end == value.data() + value.size() && number <= 4294967295u);
}

// Python looks at these before it runs anything, and stops at a value it does not know.
void interpreter_settings(const Exam& exam, Findings& findings) {
  const System& s = exam.system;
  const auto refuse = [&](const char* name, bool fits) {
    if (s.variable(name).empty() || fits) return;
    add(exam, Severity::error, name, concat("Python does not start with this value of ", name),
        concat("Fatal Python error: ", name, " has an invalid value"), findings);
  };
  refuse("PYTHONHASHSEED", is_hash_seed(s.variable("PYTHONHASHSEED")));
  refuse("PYTHONUTF8", is_one_of(s.variable("PYTHONUTF8"), {"0", "1"}));
  refuse("PYTHONMALLOC",
         is_one_of(s.variable("PYTHONMALLOC"), {"default", "malloc", "pymalloc", "malloc_debug",
                                                "pymalloc_debug", "debug", "mimalloc", "mimalloc_debug"}));
  refuse("PYTHONCOERCECLOCALE", is_one_of(s.variable("PYTHONCOERCECLOCALE"), {"0", "1", "warn"}));
  const std::string_view platform = s.variable("PYTHONPLATLIBDIR");
  refuse("PYTHONPLATLIBDIR", platform == "lib" || platform == "lib64");
}

// JAX reads its switches when it is imported.
void jax_switches(const Exam& exam, Findings& findings) {
  if (!exam.environment.find("jax")) return;
  for (const char* name : {"JAX_ENABLE_X64", "JAX_DISABLE_JIT", "JAX_DEBUG_NANS", "JAX_DEBUG_INFS",
                           "JAX_LOG_COMPILES", "JAX_ENABLE_CHECKS"}) {
    const std::string value = lower_case(exam.system.variable(name));
    if (value.empty()) continue;
    if (is_one_of(value, {"y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0"})) continue;
    add(exam, Severity::error, name, concat(name, " is neither true nor false"),
        concat("ValueError: invalid truth value '", value, "' at import jax"), findings);
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
    add(exam, Severity::error, "JAX_PLATFORMS",
        concat("JAX_PLATFORMS asks for ", platform, ", for which no plug-in is installed"),
        concat("RuntimeError: Unable to initialize backend '", platform, "', at the first array"), findings);
  }
}

// Jupyter sets it for its kernels; in another environment the module it names may not be there.
void plot_backend(const Exam& exam, Findings& findings) {
  const std::string_view value = exam.system.variable("MPLBACKEND");
  if (value.empty() || !exam.environment.find("matplotlib")) return;
  constexpr std::string_view kModule = "module://";
  if (value.starts_with(kModule)) {
    const std::string_view module = value.substr(kModule.size(), value.find('.') - kModule.size());
    if (exam.environment.path.find(module)) return;
    add(exam, Severity::error, "MPLBACKEND",
        concat("MPLBACKEND names the module ", module, ", which is not installed"),
        concat("ModuleNotFoundError: No module named '", module, "' when pyplot is imported"), findings);
    return;
  }
  if (is_one_of(lower_case(value),
                {"agg",   "cairo",    "gtk3agg", "gtk3cairo", "gtk4agg", "gtk4cairo", "macosx",
                 "nbagg", "notebook", "pdf",     "pgf",       "ps",      "qt5agg",    "qt5cairo",
                 "qtagg", "qtcairo",  "svg",     "template",  "tkagg",   "tkcairo",   "webagg",
                 "wx",    "wxagg",    "wxcairo", "inline",    "ipympl",  "widget"})) {
    return;
  }
  add(exam, Severity::error, "MPLBACKEND", "MPLBACKEND names a backend that Matplotlib does not know",
      concat("ValueError: '", value, "' is not a valid value for backend, when Matplotlib is imported"),
      findings);
}

// Where encrypted connections look for the certificates they trust.
void certificates(const Exam& exam, Findings& findings) {
  for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    const std::string_view value = exam.system.variable(name);
    if (value.empty() || is_there(value)) continue;
    add(exam, Severity::error, name, concat(name, " names a file of certificates that is not there"),
        "FileNotFoundError, or CERTIFICATE_VERIFY_FAILED, in whatever downloads: pip, requests, httpx, "
        "huggingface_hub",
        findings);
  }
}

// The program stops at a flag it does not know. Every flag's name is a text in the library that reads it.
void compiler_flags(const Exam& exam, Findings& findings) {
  const std::string_view flags = exam.system.variable("XLA_FLAGS");
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
    if (!word.starts_with("--xla")) continue;
    const std::string_view flag = word.substr(2, word.find('=') - 2);
    const bool known = std::any_of(readers.begin(), readers.end(), [&](const Library* l) {
      const std::string_view text = l->elf ? l->elf->read_only_data().text() : l->file->bytes().text();
      return text.empty() || contains(text, flag);
    });
    if (known) continue;
    add(exam, Severity::error, "XLA_FLAGS",
        concat("XLA_FLAGS has a flag that this XLA does not know: --", flag),
        concat("Unknown flags in XLA_FLAGS: --", flag, "; the process is aborted"), findings);
  }
}

}  // namespace

void find_settings(const Exam& exam, Findings& findings) {
  interpreter_settings(exam, findings);
  jax_switches(exam, findings);
  jax_platforms(exam, findings);
  plot_backend(exam, findings);
  certificates(exam, findings);
  compiler_flags(exam, findings);
}

}  // namespace plimsoll::doctor

// Environment variables whose value stops Python or a framework when it starts.
#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/framework_settings.h"
#include "doctor/standard_parts.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
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
    add_setting(exam, Severity::error, name, concat("Python does not start with this value of ", name),
                concat("Fatal Python error: ", name, " has an invalid value"), findings);
  };
  refuse("PYTHONHASHSEED", is_hash_seed(s.variable("PYTHONHASHSEED")));
  refuse("PYTHONUTF8", is_one_of(s.variable("PYTHONUTF8"), {"0", "1"}));
  refuse("PYTHONMALLOC",
         is_one_of(s.variable("PYTHONMALLOC"), {"default", "malloc", "pymalloc", "malloc_debug",
                                                "pymalloc_debug", "debug", "mimalloc", "mimalloc_debug"}));
  refuse("PYTHONCOERCECLOCALE", is_one_of(s.variable("PYTHONCOERCECLOCALE"), {"0", "1", "warn"}));
  // Python looks for its own library there, and nowhere else.
  const fs::path& library = exam.environment.standard_library;
  const fs::path named =
      exam.environment.base_prefix / s.variable("PYTHONPLATLIBDIR") / library.filename() / "os.py";
  refuse("PYTHONPLATLIBDIR", is_there(named) || !is_there(library / "os.py"));
  refuse("PYTHONTRACEMALLOC", number(s.variable("PYTHONTRACEMALLOC")).has_value());
  const uint64_t minor = exam.environment.minor;
  const auto digits = number(s.variable("PYTHONINTMAXSTRDIGITS"));
  if (minor >= 11) refuse("PYTHONINTMAXSTRDIGITS", digits && (*digits == 0 || *digits >= 640));
  const std::string_view gil = s.variable("PYTHON_GIL"), cores = s.variable("PYTHON_CPU_COUNT");
  if (minor >= 13) refuse("PYTHON_GIL", gil == "1" || (gil == "0" && exam.environment.free_threaded));
  if (minor >= 13) refuse("PYTHON_CPU_COUNT", cores == "default" || number(cores).value_or(0) > 0);
}

// Python knows an encoding by a file of its library, or by another name in its table of these.
bool is_encoding(const Exam& exam, std::string_view name) {
  const fs::path folder = exam.environment.standard_library / "encodings";
  std::string normal = lower_case(name);
  std::replace(normal.begin(), normal.end(), '-', '_');
  std::replace(normal.begin(), normal.end(), ' ', '_');
  if (normal.empty() || !is_there(folder / "aliases.py") || is_there(folder / (normal + ".py"))) return true;
  return contains(read_text(folder / "aliases.py", 1u << 20).value_or(""), concat("'", normal, "'"));
}

void stream_encoding(const Exam& exam, Findings& findings) {
  const std::string_view value = exam.system.variable("PYTHONIOENCODING");
  const size_t colon = value.find(':');
  const std::string_view errors = colon == std::string_view::npos ? "" : value.substr(colon + 1);
  const bool handler =
      errors.empty() || is_one_of(errors, {"strict", "ignore", "replace", "surrogateescape", "surrogatepass",
                                           "xmlcharrefreplace", "backslashreplace", "namereplace"});
  if (handler && is_encoding(exam, value.substr(0, colon))) return;
  add_setting(exam, Severity::error, "PYTHONIOENCODING",
              concat("Python does not start: PYTHONIOENCODING names ",
                     handler ? "an encoding" : "a treatment of errors", " that it does not know"),
              concat("LookupError: unknown ", handler ? "encoding" : "error handler name", ": ",
                     handler ? value.substr(0, colon) : errors),
              findings);
}

// action:message:category:module:line, several with commas.
void warnings(const Exam& exam, Findings& findings) {
  for (const std::string_view entry : split(exam.system.variable("PYTHONWARNINGS"), ",")) {
    const std::vector<std::string_view> parts = split(entry, ":");
    if (trim(parts[0]) != "error" || (parts.size() > 3 && !parts[3].empty())) continue;
    const std::string kind =
        parts.size() > 2 && !parts[2].empty() ? concat("every ", parts[2]) : "every warning";
    add_setting(exam, Severity::warning, "PYTHONWARNINGS",
                concat("PYTHONWARNINGS turns ", kind, " into an error"),
                "DeprecationWarning or UserWarning as an exception, at import of whatever warns", findings);
    return;
  }
}

// GNOME and others write socks://, which httpx refuses whatever is installed.
void unknown_proxy(const Exam& exam, const char* name, std::string_view kind, Findings& findings) {
  if (!exam.environment.find("httpx") || is_one_of(kind, {"socks5", "socks5h"})) return;
  add_setting(exam, Severity::warning, name,
              concat(name, " names a proxy of the kind ", kind, "://, which httpx does not know"),
              concat("ValueError: Unknown scheme for proxy URL, from httpx.Client() and what is built on it: "
                     "openai, gradio, jupyterlab"),
              findings);
  findings.back().fix = concat("export ", name, "=\"socks5${", name, "#", kind, "}\"   # or: unset ", name);
}

// SOCKS needs a module that neither requests nor httpx requires.
void proxies(const Exam& exam, Findings& findings) {
  for (const char* name :
       {"ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"}) {
    const std::string_view kind = exam.system.variable(name);
    if (!kind.starts_with("socks")) continue;
    unknown_proxy(exam, name, kind.substr(0, kind.find(':')), findings);
    for (const auto& [user, module, project] :
         {std::tuple("requests", "socks", "PySocks"), std::tuple("httpx", "socksio", "socksio")}) {
      if (!exam.environment.find(user) || exam.environment.path.find(module)) continue;
      add_setting(exam, Severity::warning, name,
                  concat(name, " names a SOCKS proxy, for which ", user, " needs ", project),
                  concat("InvalidSchema or ImportError: Missing dependencies for SOCKS support, in ", user),
                  findings);
      findings.back().fix.clear();
      findings.back().installs = {{project, "", false}};
    }
    return;
  }
}

void fast_downloads(const Exam& exam, Findings& findings) {
  const Distribution* hub = exam.environment.find("huggingface-hub");
  const std::string value = lower_case(exam.system.variable("HF_HUB_ENABLE_HF_TRANSFER"));
  if (!hub || !is_one_of(value, {"1", "on", "yes", "true"}) || exam.environment.path.find("hf_transfer"))
    return;
  if (hub->version && hub->version->major() >= 1) return;  // no longer looks at it
  add_setting(
      exam, Severity::error, "HF_HUB_ENABLE_HF_TRANSFER",
      "HF_HUB_ENABLE_HF_TRANSFER asks for hf_transfer, which is not installed",
      "ValueError: Fast download using 'hf_transfer' is enabled but it is not available, at each download",
      findings);
}

// In the locale "C" Python takes UTF-8 all the same (PEP 538, 540), unless it is told not to.
void ascii(const Exam& exam, Findings& findings) {
  const System& s = exam.system;
  std::string_view locale = s.variable("LC_ALL");
  if (locale.empty()) locale = s.variable("LC_CTYPE");
  if (locale.empty()) locale = s.variable("LANG");
  const bool coerced = s.variable("PYTHONCOERCECLOCALE") != "0" && s.variable("LC_ALL").empty();
  const bool is_c = is_one_of(locale, {"", "C", "POSIX"}) && s.variable("PYTHONUTF8") == "0" && !coerced;
  const std::string_view streams = s.variable("PYTHONIOENCODING");
  if (is_c) {
    add_setting(
        exam, Severity::warning, "PYTHONUTF8",
        "Python reads and writes text as ASCII: the locale is C, and PYTHONUTF8=0 keeps it from UTF-8",
        "UnicodeDecodeError or UnicodeEncodeError at the first letter outside of ASCII", findings);
    findings.back().fix = set_command(exam, "PYTHONUTF8", "1") + "   # or LC_ALL=C.UTF-8";
  } else if (is_one_of(lower_case(streams.substr(0, streams.find(':'))), {"ascii", "us-ascii"})) {
    add_setting(exam, Severity::warning, "PYTHONIOENCODING", "PYTHONIOENCODING makes Python print in ASCII",
                "UnicodeEncodeError when another letter is printed", findings);
  }
}

// What a window needs: a toolkit for Python, and a screen.
void windows(const Exam& exam, std::string_view backend, Findings& findings) {
  const auto has = [&](std::initializer_list<std::string_view> modules) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](std::string_view m) { return static_cast<bool>(exam.environment.path.find(m)); });
  };
  std::string lacks;
  const char* project = "";
  if (backend.starts_with("qt5") && !has({"PyQt5", "PySide2"}))
    lacks = "Qt 5 (PyQt5 or PySide2)", project = "PyQt5";
  if (backend.starts_with("qt") && !backend.starts_with("qt5") &&
      !has({"PyQt6", "PySide6", "PyQt5", "PySide2"}))
    lacks = "Qt (PyQt6, PySide6, PyQt5 or PySide2)", project = "PyQt6";
  if (backend.starts_with("gtk") && !has({"gi"})) lacks = "GTK (PyGObject)", project = "PyGObject";
  if (backend.starts_with("wx") && !has({"wx"})) lacks = "wxPython", project = "wxPython";
  if (is_one_of(backend, {"ipympl", "widget"}) && !has({"ipympl"})) lacks = "ipympl", project = "ipympl";
  if (backend == "inline" && !has({"matplotlib_inline"}))
    lacks = "matplotlib-inline", project = "matplotlib-inline";
  if (backend.starts_with("tk") && lost_standard_parts(exam).contains("_tkinter"))
    lacks = "tkinter, without which this Python was built";
  const bool window = is_one_of(backend.substr(0, 2), {"qt", "gt", "wx", "tk"});
  const bool blind = window && !exam.environment.is_macos && exam.system.variable("DISPLAY").empty() &&
                     exam.system.variable("WAYLAND_DISPLAY").empty();
  if (lacks.empty() && !blind) return;
  add_setting(exam, Severity::warning, "MPLBACKEND",
              concat("MPLBACKEND asks for windows of ", backend, ", and ",
                     lacks.empty() ? "there is no screen (DISPLAY is not set)" : lacks + " is not installed"),
              concat("ImportError: Cannot load backend '", exam.system.variable("MPLBACKEND"),
                     "', at the first figure"),
              findings);
  if (*project != 0) findings.back().evidence.push_back(concat("or install ", project));
}

// Jupyter sets it for its kernels; in another environment the module it names may not be there.
void plot_backend(const Exam& exam, Findings& findings) {
  const std::string_view value = exam.system.variable("MPLBACKEND");
  if (value.empty() || !exam.environment.find("matplotlib")) return;
  constexpr std::string_view kModule = "module://";
  if (value.starts_with(kModule)) {
    const std::string_view module = value.substr(kModule.size(), value.find('.') - kModule.size());
    if (exam.environment.path.find(module)) return;
    add_setting(exam, Severity::error, "MPLBACKEND",
                concat("MPLBACKEND names the module ", module, ", which is not installed"),
                concat("ModuleNotFoundError: No module named '", module, "' when pyplot is imported"),
                findings);
    return;
  }
  if (is_one_of(lower_case(value),
                {"agg",   "cairo",    "gtk3agg", "gtk3cairo", "gtk4agg", "gtk4cairo", "macosx",
                 "nbagg", "notebook", "pdf",     "pgf",       "ps",      "qt5agg",    "qt5cairo",
                 "qtagg", "qtcairo",  "svg",     "template",  "tkagg",   "tkcairo",   "webagg",
                 "wx",    "wxagg",    "wxcairo", "inline",    "ipympl",  "widget"})) {
    windows(exam, lower_case(value), findings);
    return;
  }
  add_setting(
      exam, Severity::error, "MPLBACKEND", "MPLBACKEND names a backend that Matplotlib does not know",
      concat("ValueError: '", value, "' is not a valid value for backend, when Matplotlib is imported"),
      findings);
}

// Where encrypted connections look for the certificates they trust.
void certificates(const Exam& exam, Findings& findings) {
  for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    const std::string_view value = exam.system.variable(name);
    std::error_code ignored;
    const bool empty =
        !value.empty() && is_there(value) && !is_folder(value) && fs::file_size(value, ignored) == 0;
    if (value.empty() || (is_there(value) && !empty)) continue;
    add_setting(
        exam, Severity::error, name,
        concat(name, " names a file of certificates that is ", empty ? "empty: " : "not there",
               empty ? value : ""),
        "FileNotFoundError, or CERTIFICATE_VERIFY_FAILED, in whatever downloads: pip, requests, httpx, "
        "huggingface_hub",
        findings);
  }
}

}  // namespace

void find_settings(const Exam& exam, Findings& findings) {
  interpreter_settings(exam, findings);
  stream_encoding(exam, findings);
  ascii(exam, findings);
  warnings(exam, findings);
  proxies(exam, findings);
  fast_downloads(exam, findings);
  plot_backend(exam, findings);
  certificates(exam, findings);
  framework_settings(exam, findings);
}

}  // namespace plimsoll::doctor

// The program or notebook given: imports and names in it that this environment does not have.
#include "doctor/program_file.h"
#include "doctor/program_calls.h"
#include "doctor/program_data.h"
#include "doctor/program_needs.h"
#include "doctor/program_signatures.h"
#include "doctor/program_text.h"

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/module_project.h"
#include "doctor/python/import_follower.h"
#include "doctor/python/text.h"
#include "doctor/removed_names.h"
#include "doctor/standard_parts.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr std::chrono::milliseconds kLongest{300};

// What stands for names that people still have in their programs.
std::string replacement_of(const std::string& name) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"keras.utils.np_utils", "from keras.utils import to_categorical"},
      {"keras.utils.to_categorical", "from keras.utils import to_categorical"},
      {"moviepy.editor", "from moviepy import ..."},
      {"keras.wrappers.scikit_learn", "from scikeras.wrappers import ... (pip install scikeras)"},
      {"sklearn.datasets.load_boston", "from sklearn.datasets import fetch_california_housing"},
      {"numpy.bool", "bool"},
      {"numpy.int", "int"},
      {"numpy.float", "float"},
      {"numpy.object", "object"},
      {"numpy.str", "str"},
      {"numpy.complex", "complex"},
      {"numpy.float_", "numpy.float64"},
      {"numpy.NaN", "numpy.nan"},
      {"numpy.Inf", "numpy.inf"},
      {"numpy.product", "numpy.prod"},
      {"numpy.trapz", "numpy.trapezoid"},
      {"numpy.in1d", "numpy.isin"},
      {"numpy.row_stack", "numpy.vstack"},
      {"sklearn.externals.joblib", "import joblib"},
      {"sklearn.cross_validation", "sklearn.model_selection"},
      {"scipy.misc.imread", "imageio.v2.imread"},
      {"scipy.integrate.simps", "scipy.integrate.simpson"},
      {"scipy.integrate.trapz", "scipy.integrate.trapezoid"},
      {"networkx.from_numpy_matrix", "networkx.from_numpy_array"},
      {"networkx.to_numpy_matrix", "networkx.to_numpy_array"},
      {"PIL.Image.ANTIALIAS", "PIL.Image.LANCZOS"},
      {"matplotlib.cm.get_cmap", "matplotlib.colormaps[name]"},
      {"collections.Mapping", "collections.abc.Mapping"},
      {"collections.Iterable", "collections.abc.Iterable"}};
  for (const auto& [old, now] : known) {
    if (old == name) return std::string(now);
  }
  if (name.starts_with("tensorflow.") && removed_name(name, 0).requirement == "tensorflow<2" &&
      !name.starts_with("tensorflow.contrib"))
    return concat("tensorflow.compat.v1", name.substr(10),
                  " (after tensorflow.compat.v1.disable_v2_behavior())");
  return "";
}

// Projects whose name is that of a better-known module, which another project has.
std::string project_meant(const std::string& module, const Distribution* from) {
  const std::pair<std::string_view, std::string_view> known[] = {{"ffmpeg", "ffmpeg-python"},
                                                                 {"serial", "pyserial"},
                                                                 {"jwt", "PyJWT"},
                                                                 {"magic", "python-magic"},
                                                                 {"slugify", "python-slugify"},
                                                                 {"docx", "python-docx"},
                                                                 {"fitz", "PyMuPDF"},
                                                                 {"bson", "pymongo"},
                                                                 {"jose", "python-jose"},
                                                                 {"telegram", "python-telegram-bot"},
                                                                 {"usb", "pyusb"},
                                                                 {"nmap", "python-nmap"}};
  for (const auto& [name, project] : known) {
    if (module == name && from && from->normal == name) return std::string(project);
  }
  return "";
}

// The versions that still had a name: those that are known, else those before the installed one's first
// number. Names are dropped there, as a rule; a version right below the installed one would not have it
// either.
std::string older_with(const Exam& exam, const std::string& what, const Distribution* from) {
  const RemovedName removed = removed_name(what, exam.environment.minor);
  if (!removed.requirement.empty()) return removed.installable ? removed.requirement : "";
  if (!from || !from->version || from->version->major() == 0) return "";
  return concat(from->name, "<", from->version->major());
}

// A module beside the program that was compiled for another Python; empty if there is none.
std::string compiled_beside(const std::filesystem::path& folder, const std::string& module) {
  for (const std::filesystem::path& file : list_folder(folder)) {
    const std::string name = file.filename().string();
    if (name.starts_with(module + ".") && (name.ends_with(".so") || name.ends_with(".pyd"))) return name;
  }
  return "";
}

// The module in the program's folder whose name is nearly this one; empty if there is none.
std::string near_module(const std::filesystem::path& folder, std::string_view module) {
  for (const std::filesystem::path& file : list_folder(folder)) {
    const std::string name = file.stem().string();
    if (file.extension() == ".py" && letters_apart(name, module) <= std::max<size_t>(1, name.size() / 5))
      return name;
  }
  return "";
}

// What only a service of the web has, and programs made there ask for.
bool is_of_colab(const BrokenImport& b, std::string_view source) {
  return b.module.starts_with("google") && contains(source, "google.colab");
}

Finding describe(const Exam& exam, const BrokenImport& b, const std::filesystem::path& folder) {
  const std::string file = b.by.empty() ? exam.options.model.filename().string() : b.by.filename().string();
  Finding f;
  f.severity = Severity::error;
  f.sureness = Sureness::likely;
  f.evidence = {(b.by.empty() ? exam.options.model : b.by).string()};
  if (b.kind == BrokenImport::Kind::syntax) {
    f.what = concat(file, " cannot be compiled: ", b.name);
    f.leads_to = "SyntaxError before its first line runs";
    f.fix = contains(b.name, "Python 2") ? concat("2to3 -w ", file, "   # or rewrite that line for Python 3")
                                         : "Finish that statement, or undo the last change.";
    return f;
  }
  if (b.kind == BrokenImport::Kind::mutable_default) {
    f.what = concat(file, ": a dataclass has a default that can change: ", b.name);
    f.leads_to = "ValueError: mutable default ... is not allowed: use default_factory";
    f.fix = "Write = field(default_factory=...) for that field, or @dataclass(frozen=True) for its class.";
    return f;
  }
  const bool top = b.kind == BrokenImport::Kind::module && !contains(b.module, ".");
  const std::string what = b.name.empty() ? b.module : concat(b.module, ".", b.name);
  if (is_of_colab(b, read_text(exam.options.model).value_or(""))) {
    f.what = concat(file, " imports google.colab, which only Google Colab has");
    f.leads_to = "ModuleNotFoundError: No module named 'google.colab'";
    f.fix = "Leave those cells out here, and read the files from this disk in place of /content/drive.";
    return f;
  }
  if (const std::string library = top ? compiled_beside(folder, b.module) : ""; !library.empty()) {
    f.what = concat(file, " imports ", b.module, ", which was compiled for another Python: ", library);
    f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "'");
    f.fix = concat("Build it again with this Python: ", shell_word(exam.environment.python),
                   " setup.py build_ext --inplace   # or cythonize -i");
    return f;
  }
  if (top) {
    f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "'");
    const std::string project = project_with(b.module);
    if (project != b.module || is_known_project(exam.environment, project)) {
      f.what = concat(file, " imports ", b.module, ", which is not installed");
      f.installs = {{project, "", false}};
      return f;
    }
    f.what = concat(file, " imports ", b.module, ", which is neither installed nor beside it");
    const std::string near = near_module(folder, b.module);
    f.fix = near.empty() ? concat("If it is a file of the program, copy ", b.module, ".py to ", folder.string(),
                                  "; if it is a project, look up its name on pypi.org first.")
                         : concat("Write ", near, ", if that is meant: ", near, ".py is in ", folder.string(), ".");
    return f;
  }
  const Origin origin = exam.environment.path.find(b.module.substr(0, b.module.find('.')));
  const Distribution* from = origin ? owner_of(exam.environment, origin.file) : nullptr;
  f.what =
      concat(file, " uses ", what, ", which ",
             from ? from->shown() : concat("Python ", exam.environment.major, ".", exam.environment.minor),
             " does not have");
  f.leads_to = concat("ImportError or AttributeError: no ", what);
  if (const std::string right = project_meant(b.module, from); !right.empty()) {
    f.what += concat(": people mean ", right, " by ", b.module);
    f.fix = concat(uninstall_command(exam, {from->name}), " && ", InstallCommand{{right}}.text(exam));
    return f;
  }
  const std::string now = replacement_of(what);
  const std::string old = older_with(exam, what, from);
  f.fix = !now.empty()   ? concat("Write ", now, " instead of ", what, ".")
          : !old.empty() ? InstallCommand{{old}}.text(exam) + "   # or look up what became of it"
          : from ? concat("Look up what became of ", what, " in the release notes of ", from->name, ".")
                 : concat("Look up what became of ", what, " in \"What's new in Python\".");
  return f;
}

bool is_page(const std::filesystem::path& file) {
  const std::string head = lower_case(trim(read_text(file, 4096).value_or("")).substr(0, 32));
  return head.starts_with("<!doctype html") || head.starts_with("<html");
}

// What its text says before anything runs.
void text_of_program(const Exam& exam, std::string_view source, Findings& findings) {
  const std::string file = exam.options.model.filename().string();
  const bool notebook = exam.options.model.extension() == ".ipynb";
  std::optional<TextTrouble> trouble;
  if (!notebook) trouble = encoding_trouble(source, shell_word(exam.options.model));
  if (!trouble) trouble = text_trouble(source, exam.environment.minor);
  if (!trouble) return;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::likely,
       concat(file, " cannot be compiled by Python 3.", exam.environment.minor, ": ", trouble->what),
       {exam.options.model.string()},
       trouble->leads_to,
       trouble->fix});
}

// protoc writes the version that its code needs at least: "# Protobuf Python Version: 5.28.1".
void generated_code(const Exam& exam, const std::filesystem::path& file, std::string_view text,
                    Findings& findings) {
  constexpr std::string_view kVersion = "# Protobuf Python Version: ";
  const size_t at = text.find(kVersion);
  const Distribution* protobuf = exam.environment.find("protobuf");
  if (at == std::string_view::npos || !protobuf || !protobuf->version) return;
  const std::string_view line = trim(text.substr(at + kVersion.size(), 20));
  const auto needed = Version::parse(line.substr(0, line.find('\n')));
  if (!needed || *protobuf->version >= *needed) return;
  Finding f;
  f.severity = Severity::error;
  f.sureness = Sureness::certain;
  f.what = concat(file.filename().string(), " was generated by a protoc of protobuf ", needed->text(),
                  ", newer than ", protobuf->shown());
  f.evidence = {file.string()};
  f.leads_to = "ImportError: cannot import name 'runtime_version', or VersionError";
  f.installs = {{concat("protobuf>=", needed->text()), "", false}};
  findings.push_back(f);
}

// Modules of the same folder that the program imports are parts of it.
void modules_beside(const Exam& exam, std::string_view source, const std::filesystem::path& folder,
                    Findings& findings) {
  constexpr size_t kMost = 20;
  const SourceReading reading = read_source(source, {3, exam.environment.minor, false, false, true});
  size_t looked = 0;
  for (const ImportStatement& s : reading.imports) {
    const std::filesystem::path file = folder / (s.module + ".py");
    if (s.level > 0 || s.module.empty() || contains(s.module, ".") || !is_there(file) || ++looked > kMost)
      continue;
    const std::string text = read_text(file, 1u << 20).value_or("");
    generated_code(exam, file, text, findings);
    ImportFollower follower(exam.environment, lost_standard_parts(exam));
    follower.start_program(s.module, file, text);
    for (const BrokenImport& b : follower.broken()) {
      const bool beside = is_there(folder / b.module) || is_there(folder / (b.module + ".py"));
      if (b.package == s.module && !b.module.empty() && !beside)
        findings.push_back(describe(exam, b, folder));
    }
  }
}

}  // namespace

void find_program(const Exam& exam, Findings& findings) {
  if (exam.options.model.empty() || !is_program(exam.options.model)) return;
  Program program;
  try {
    program = read_program(exam.options.model);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_file) throw;
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        concat(exam.options.model.filename().string(), " is no notebook, or it is damaged"),
                        {e.what()},
                        "Jupyter: Unreadable Notebook, NotJSONError",
                        is_page(exam.options.model)
                            ? "It is a web page (HTML): download the raw file (on GitHub: the button Raw)."
                            : "Go back to an earlier copy: .ipynb_checkpoints beside it, or git checkout."});
    return;
  }
  const std::string shown = "<program>";
  ImportFollower follower(exam.environment, lost_standard_parts(exam));
  follower.start_program(shown, exam.options.model, program.source);
  const std::filesystem::path folder = std::filesystem::absolute(exam.options.model).parent_path();
  for (const BrokenImport& b : follower.broken()) {
    const bool beside =
        !b.module.empty() && (is_there(folder / b.module) || is_there(folder / (b.module + ".py")));
    if (b.package == shown && !beside) findings.push_back(describe(exam, b, folder));
  }
  if (findings.empty()) text_of_program(exam, program.source, findings);
  modules_beside(exam, program.source, folder, findings);
  needs_of_program(exam, program.source, findings);
  calls_of_program(exam, program.source, findings);
  signatures_of_program(exam, program.source, findings);
  data_of_program(exam, program.source, findings);
  kernel_of_notebook(exam, program.kernel, findings);
  if (findings.empty()) {
    Finding f;
    f.what = concat(exam.options.model.filename().string(), " uses nothing that is known to be missing here");
    f.sureness = Sureness::possible;
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor

// The program or notebook given: imports and names in it that this environment does not have.
#include "doctor/program_file.h"
#include "doctor/program_needs.h"

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
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

// The versions that still had a name: those that are known, else those before the installed one's first
// number. Names are dropped there, as a rule; a version right below the installed one would not have it
// either.
std::string older_with(const Exam& exam, const std::string& what, const Distribution* from) {
  const RemovedName removed = removed_name(what, exam.environment.minor);
  if (!removed.requirement.empty()) return removed.installable ? removed.requirement : "";
  if (!from || !from->version || from->version->major() == 0) return "";
  return concat(from->name, "<", from->version->major());
}

Finding describe(const Exam& exam, const BrokenImport& b) {
  const std::string file = exam.options.model.filename().string();
  Finding f;
  f.severity = Severity::error;
  f.sureness = Sureness::likely;
  f.evidence = {exam.options.model.string()};
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
  if (top) {
    f.what = concat(file, " imports ", b.module, ", which is not installed");
    f.leads_to = concat("ModuleNotFoundError: No module named '", b.module, "'");
    f.installs = {{project_with(b.module), "", false}};
    return f;
  }
  const Origin origin = exam.environment.path.find(b.module.substr(0, b.module.find('.')));
  const Distribution* from = origin ? owner_of(exam.environment, origin.file) : nullptr;
  f.what =
      concat(file, " uses ", what, ", which ",
             from ? from->shown() : concat("Python ", exam.environment.major, ".", exam.environment.minor),
             " does not have");
  f.leads_to = concat("ImportError or AttributeError: no ", what);
  const std::string now = replacement_of(what);
  const std::string old = older_with(exam, what, from);
  f.fix = !now.empty()   ? concat("Write ", now, " instead of ", what, ".")
          : !old.empty() ? InstallCommand{{old}}.text(exam) + "   # or look up what became of it"
          : from ? concat("Look up what became of ", what, " in the release notes of ", from->name, ".")
                 : concat("Look up what became of ", what, " in \"What's new in Python\".");
  return f;
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
                        "Go back to an earlier copy: .ipynb_checkpoints beside it, or git checkout."});
    return;
  }
  const std::string shown = "<program>";
  ImportFollower follower(exam.environment, lost_standard_parts(exam));
  follower.start_program(shown, exam.options.model, program.source);
  const std::filesystem::path folder = std::filesystem::absolute(exam.options.model).parent_path();
  for (const BrokenImport& b : follower.broken()) {
    const bool beside = is_there(folder / b.module) || is_there(folder / (b.module + ".py"));
    if (b.package == shown && !beside) findings.push_back(describe(exam, b));
  }
  needs_of_program(exam, program.source, findings);
  kernel_of_notebook(exam, program.kernel, findings);
  if (findings.empty()) {
    Finding f;
    f.what = concat(exam.options.model.filename().string(), " uses nothing that is known to be missing here");
    f.sureness = Sureness::possible;
    findings.push_back(f);
  }
}

}  // namespace plimsoll::doctor

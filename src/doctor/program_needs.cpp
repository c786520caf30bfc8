#include "doctor/program_needs.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <vector>

#include "doctor/commands.h"
#include "doctor/files.h"
#include "doctor/kernelspec.h"
#include "doctor/python/source.h"
#include "doctor/python/source_lines.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// A function that needs one of several modules, or a program of the system.
struct Need {
  std::string_view package;  // that the program imports; several with spaces
  std::string_view call;     // "read_excel"; empty: the import is enough
  std::string_view modules;  // one of these serves; the first is what is installed
  std::string_view program;  // a program on PATH
  std::string_view system;   // the system's package with that program
  std::string_view error;
};

constexpr Need kNeeds[] = {
    {"pandas", "read_excel", "openpyxl xlrd python_calamine odf pyxlsb", "", "",
     "ImportError: Missing optional dependency 'openpyxl'"},
    {"pandas", "to_excel", "openpyxl xlsxwriter odf", "", "",
     "ModuleNotFoundError: No module named 'openpyxl'"},
    {"pandas", "read_parquet", "pyarrow fastparquet", "", "",
     "ImportError: Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'"},
    {"pandas", "to_parquet", "pyarrow fastparquet", "", "",
     "ImportError: Unable to find a usable engine; tried using: 'pyarrow', 'fastparquet'"},
    {"pandas", "read_feather", "pyarrow", "", "", "ImportError: Missing optional dependency 'pyarrow'"},
    {"pandas", "to_feather", "pyarrow", "", "", "ImportError: Missing optional dependency 'pyarrow'"},
    {"pandas", "read_html", "lxml bs4", "", "", "ImportError: Missing optional dependency 'lxml'"},
    {"pandas", "read_hdf", "tables", "", "", "ImportError: Missing optional dependency 'pytables'"},
    {"pandas", "to_hdf", "tables", "", "", "ImportError: Missing optional dependency 'pytables'"},
    {"pandas", "HDFStore", "tables", "", "", "ImportError: Missing optional dependency 'pytables'"},
    {"pandas", "to_markdown", "tabulate", "", "", "ImportError: Missing optional dependency 'tabulate'"},
    {"tqdm.notebook", "", "ipywidgets", "", "",
     "ImportError: IProgress not found. Please update jupyter and ipywidgets"},
    {"keras tensorflow", "plot_model", "pydot pydotplus pydot_ng", "dot", "graphviz",
     "ImportError: You must install pydot and graphviz for plot_model to work"},
    {"graphviz", "", "", "dot", "graphviz", "ExecutableNotFound: failed to execute 'dot'"},
    {"pytesseract", "", "", "tesseract", "tesseract-ocr",
     "TesseractNotFoundError: tesseract is not installed or it's not in your PATH"},
    {"pdf2image", "", "", "pdftoppm", "poppler-utils",
     "PDFInfoNotInstalledError: Unable to get page count. Is poppler installed and in PATH?"},
    {"plotly", "fig.show", "nbformat", "", "",
     "ValueError: Mime type rendering requires nbformat>=4.2.0 but it is not installed"},
    {"whisper", "", "", "ffmpeg", "ffmpeg", "FileNotFoundError: No such file or directory: 'ffmpeg'"},
    {"pyspark tabula", "", "", "java", "default-jre-headless", "JAVA_HOME is not set, or JavaNotFoundError"},
};

class Reader {
 public:
  Reader(const Exam& exam, std::string_view source, Findings& findings)
      : exam_(exam),
        findings_(findings),
        source_(source),
        lines_(source),
        file_(exam.options.model.filename().string()) {
    for (size_t i = 0; i < lines_.size(); ++i) {
      std::vector<ImportStatement> imports;
      add_imports(trim(lines_[i].text), imports);
      for (const ImportStatement& s : imports) add_import(s);
    }
  }

  void run() {
    for (const Need& need : kNeeds) {
      const auto packages = split(need.package, " ");
      if (std::none_of(packages.begin(), packages.end(), [&](auto p) { return imported_.contains(p); }))
        continue;
      const bool in_notebook = exam_.options.model.extension() == ".ipynb";
      if (need.package == "plotly" && !in_notebook) continue;
      if (need.call.empty() || calls(need.call)) judge(need);
    }
    styles();
  }

 private:
  void add_import(const ImportStatement& s) {
    if (s.level > 0) return;
    for (size_t dot = s.module.find('.'); dot != std::string::npos; dot = s.module.find('.', dot + 1))
      imported_.insert(s.module.substr(0, dot));
    imported_.insert(s.module);
    for (const std::string& name : s.names) imported_.insert(concat(s.module, ".", name));
  }

  bool calls(std::string_view function) const {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = lines_[i].text;
      for (size_t at = text.find(function); at != std::string_view::npos; at = text.find(function, at + 1)) {
        const bool begins = at == 0 || !is_word_character(text[at - 1]);
        const std::string_view rest = trim(text.substr(at + function.size()));
        if (begins && rest.starts_with("(") && !trim(text).starts_with("def ")) return true;
      }
    }
    return false;
  }

  // What is not installed of what the program may catch itself is worth a warning, no more.
  void judge(const Need& need) {
    const std::string user = need.call.empty() ? std::string(need.package) : concat(need.call, "()");
    const std::vector<std::string_view> modules = split(need.modules, " ");
    const bool served =
        need.modules.empty() || std::any_of(modules.begin(), modules.end(), [&](std::string_view m) {
          return static_cast<bool>(exam_.environment.path.find(m));
        });
    // Whose readings have no PATH is another machine.
    const bool runs = need.program.empty() || exam_.system.variable("PATH").empty() ||
                      is_on_path(exam_, need.program) || contains(source_, "tesseract_cmd") ||
                      contains(source_, "poppler_path");
    if ((served && runs) || (!served && !said_.emplace(modules[0]).second)) return;
    Finding f;
    f.severity = Severity::warning;
    f.sureness = Sureness::likely;
    f.evidence = {exam_.options.model.string()};
    f.leads_to = need.error;
    f.what = concat(file_, " uses ", user, ", which needs ", served ? "the program " : "",
                    served ? need.program : modules[0],
                    served ? ", which is not on PATH" : ", which is not installed");
    if (!served) f.installs = {{std::string(modules[0]), "", false}};
    if (!runs) f.fix = concat("sudo apt-get install -y ", need.system, "   # or brew, conda: ", need.system);
    findings_.push_back(f);
  }

  // Matplotlib 3.8 has the styles of seaborn under names with a version.
  void styles() {
    if (!imported_.contains("matplotlib") || exam_.environment.locate("matplotlib/mpl-data/stylelib").empty())
      return;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (!contains(lines_[i].text, "style.use") && !contains(lines_[i].text, "style.context")) continue;
      for (const std::string_view name : split(lines_[i].whole, "'\"")) {
        if (!name.starts_with("seaborn") || name.find_first_of(" ./(") != std::string_view::npos) continue;
        style(std::string(name));
      }
    }
  }
  void style(const std::string& name) {
    const fs::path folder = exam_.environment.locate("matplotlib/mpl-data/stylelib");
    const std::string now = concat("seaborn-v0_8", name.substr(7));
    if (is_there(folder / (name + ".mplstyle")) || !is_there(folder / (now + ".mplstyle")) ||
        !said_.insert(name).second)
      return;
    findings_.push_back({"",
                         Severity::error,
                         Sureness::likely,
                         concat(file_, " uses the style ", name, ", which this Matplotlib does not have"),
                         {exam_.options.model.string(), folder.string()},
                         concat("OSError: '", name, "' is not a valid package style"),
                         concat("Write '", now, "' instead of '", name, "'.")});
  }

  const Exam& exam_;
  Findings& findings_;
  std::string_view source_;
  SourceLines lines_;
  std::string file_;
  std::set<std::string, std::less<>> imported_, said_;
};

}  // namespace

bool is_on_path(const Exam& exam, std::string_view program) {
  std::vector<fs::path> folders{exam.environment.prefix / "bin"};
  for (const std::string_view folder : split(exam.system.variable("PATH"), ":")) folders.emplace_back(folder);
  return std::any_of(folders.begin(), folders.end(),
                     [&](const fs::path& folder) { return ::access((folder / program).c_str(), X_OK) == 0; });
}

void needs_of_program(const Exam& exam, std::string_view source, Findings& findings) {
  Reader(exam, source, findings).run();
}

void kernel_of_notebook(const Exam& exam, std::string_view kernel, Findings& findings) {
  const bool jupyter = exam.environment.find("ipykernel") != nullptr;
  const std::string name = lower_case(kernel);
  if (!jupyter || name.empty() || name == "python3") return;
  for (const KernelSpec& spec : read_kernelspecs(exam.environment, exam.system)) {
    if (lower_case(spec.file.parent_path().filename().string()) == name) return;
  }
  for (const char* folder : {"/usr/share/jupyter/kernels", "/usr/local/share/jupyter/kernels"}) {
    if (is_there(fs::path(folder) / name)) return;
  }
  const std::string python = shell_word(exam.environment.python),
                    file = exam.options.model.filename().string();
  findings.push_back(
      {"",
       Severity::warning,
       Sureness::likely,
       concat(file, " asks for the Jupyter kernel \"", kernel, "\", which is not here"),
       {concat("metadata.kernelspec.name of ", exam.options.model.string())},
       concat("NoSuchKernel: No such kernel named ", kernel,
              ", from nbconvert and papermill; Jupyter asks for another"),
       concat(python, " -m ipykernel install --prefix ", shell_word(exam.environment.prefix), " --name ",
              shell_word(name), "   # or choose the kernel of this environment in Jupyter")});
}

}  // namespace plimsoll::doctor

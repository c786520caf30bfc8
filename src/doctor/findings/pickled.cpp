// A pickle asked about by name: whether this environment has the classes and functions it asks for, and
// whether torch.load takes it as it is usually called. Nothing of it is unpickled.
#include <algorithm>
#include <optional>
#include <set>

#include "common/zip_reader.h"
#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/formats/pickle.h"
#include "doctor/module_project.h"
#include "doctor/python/import_follower.h"
#include "doctor/python/text.h"
#include "doctor/removed_names.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestPickle = 256u << 20;

struct Pickled {
  PickleContents contents;
  bool torch = false;   // torch.load reads it
  bool script = false;  // an archive of TorchScript
};

bool has_end(const std::string& name, std::initializer_list<std::string_view> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

// PyTorch's archives hold the pickle as <name>/data.pkl; TorchScript's have code beside it.
std::optional<Pickled> read_archive(const fs::path& path) {
  const ZipReader zip(FileSource::open(path));
  Pickled result;
  for (const ZipReader::Member& member : zip.members()) {
    result.script |= contains(member.name, "/code/__torch__");
    if (!member.name.ends_with("/data.pkl") || std::count(member.name.begin(), member.name.end(), '/') != 1)
      continue;
    result.contents = read_pickle(Bytes(zip.read(member, kLargestPickle)));
    result.torch = true;
  }
  return result.torch ? std::optional(result) : std::nullopt;
}

std::optional<Pickled> read_pickled(const fs::path& path) {
  const std::string name = lower_case(path.filename().string());
  const bool torch = has_end(name, {".pt", ".pth", ".bin", ".ckpt", ".tar"});
  if (!torch && !has_end(name, {".pkl", ".pickle", ".joblib", ".sav", ".p"})) return std::nullopt;
  const std::optional<MappedFile> file = MappedFile::open(path);
  if (!file || file->bytes().size() < 2) return std::nullopt;
  const std::string_view text = file->bytes().text();
  try {
    if (text.starts_with("PK\x03\x04")) return read_archive(path);
  } catch (const Error&) {
    return std::nullopt;  // cut off or damaged: the finding `model` says so
  }
  if (text[0] != '\x80' || text[1] < 2 || text[1] > 5) return std::nullopt;
  return Pickled{torch ? read_pickles(file->bytes()) : read_pickle(file->bytes()), torch, false};
}

// What torch.load takes without being told that the file is trusted.
bool is_allowed(const std::string& module, const std::string& name) {
  const std::string top = module.substr(0, module.find('.'));
  if (module == "collections") return name == "OrderedDict" || name == "Counter" || name == "defaultdict";
  if (module == "__builtin__" || module == "builtins")
    return name != "eval" && name != "exec" && name != "getattr";
  if (module == "_codecs") return true;
  if (top != "torch") return false;
  return !contains(module, ".nn.modules") && !contains(module, ".optim") && !contains(module, ".jit");
}

class Judge {
 public:
  Judge(const Exam& exam, const Pickled& pickled, Findings& findings)
      : exam_(exam),
        pickled_(pickled),
        findings_(findings),
        path_(exam.options.model),
        file_(path_.filename().string()) {}

  void run() {
    own_classes();
    missing_names();
    scikit_learn();
    if (pickled_.torch) torch();
  }

 private:
  void add(Severity severity, Sureness sureness, std::string what, std::vector<std::string> seen,
           std::string leads_to, std::string fix) {
    findings_.push_back(
        {"", severity, sureness, std::move(what), std::move(seen), std::move(leads_to), std::move(fix)});
  }

  // Classes of the program or notebook that wrote it: a pickle knows them by name only.
  void own_classes() {
    std::vector<std::string> own;
    for (const auto& [module, name] : pickled_.contents.names) {
      if (module == "__main__") own.push_back(name);
    }
    if (own.empty()) return;
    add(Severity::warning, Sureness::certain,
        concat(file_, " needs what the program that wrote it defined itself: ", some_of(own)),
        {path_.string()},
        concat("AttributeError: Can't get attribute '", own.front(), "' on <module '__main__'>"),
        concat(
            "Define or import ", own.front(),
            " in the notebook before it is loaded; for good, put it into a module and save the file anew."));
  }

  // What cannot be found is what an import statement would not find either.
  void missing_names() {
    std::string source;
    std::set<std::string> asked;
    for (const auto& [module, name] : pickled_.contents.names) {
      const std::string top = module.substr(0, module.find('.'));
      const bool beside =
          is_there(path_.parent_path() / top) || is_there(path_.parent_path() / (top + ".py"));
      const bool old = top == "__main__" || top == "__builtin__" || top == "copy_reg" || beside;
      if (old || asked.size() >= 500 || !asked.insert(concat(module, ":", name)).second) continue;
      source += concat("from ", module, " import ", name.substr(0, name.find('.')), "\n");
    }
    ImportFollower follower(exam_.environment);
    follower.start_program("<pickle>", path_, source);
    std::set<std::string> said;  // one name tells of a project
    for (const BrokenImport& b : follower.broken()) {
      const bool known = b.kind == BrokenImport::Kind::module || b.kind == BrokenImport::Kind::name;
      if (known && said.insert(b.module.substr(0, b.module.find('.'))).second) missing(b);
    }
  }

  void missing(const BrokenImport& b) {
    const std::string what = b.name.empty() ? b.module : concat(b.module, ".", b.name);
    const std::string top = b.module.substr(0, b.module.find('.'));
    const std::string error = b.name.empty() ? concat("ModuleNotFoundError: No module named '", b.module, "'")
                                             : concat("AttributeError: Can't get attribute '", b.name, "'");
    if (b.name.empty() && b.module == top) {
      const bool known = project_with(top) != top || is_usual(top);
      add(Severity::error, Sureness::likely,
          concat(file_, " asks for the module ", top, ", which is not here"), {path_.string()},
          concat(error, ", when it is loaded"),
          known ? ""
                : concat("Load it where ", top,
                         " of its author can be imported: in that folder, or with it on PYTHONPATH."));
      if (known) findings_.back().installs = {{project_with(top), "", false}};
      return;
    }
    const Origin origin = exam_.environment.path.find(top);
    const Distribution* from = origin ? owner_of(exam_.environment, origin.file) : nullptr;
    // pandas.read_pickle knows the old names of its own.
    const auto& names = pickled_.contents.names;
    const bool frame = top == "pandas" && pickled_.contents.is_object && !names.empty() &&
                       names.front().first.starts_with("pandas.");
    add(frame ? Severity::warning : Severity::error, Sureness::likely,
        concat(file_, " asks for ", what, ", which ", from ? from->shown() : top, " does not have"),
        {path_.string()}, concat(error, ", from pickle.load and joblib.load"), fix_for(top, what, from));
  }

  static bool is_usual(std::string_view top) {
    for (const std::string_view usual :
         {"numpy", "scipy", "pandas", "torch", "torchvision", "tensorflow", "keras", "jax", "joblib",
          "xgboost", "lightgbm", "catboost", "statsmodels", "networkx", "transformers", "spacy"}) {
      if (top == usual) return true;
    }
    return false;
  }

  std::string fix_for(const std::string& top, const std::string& what, const Distribution* from) const {
    if (top == "pandas")
      return concat("Read it with pandas.read_pickle(",
                    "path), which knows older names, or with the pandas that wrote it; then write it "
                    "anew: ",
                    InstallCommand{{"pandas<2"}}.text(exam_), "   # in an environment of its own");
    const std::string& wrote = pickled_.contents.scikit_learn;
    if (top == "sklearn" && !wrote.empty())
      return InstallCommand{{concat("scikit-learn==", wrote)}}.text(exam_);
    if (top == "numpy" && what.starts_with("numpy._core"))
      return InstallCommand{{"numpy>=1.26,<2"}}.text(exam_);
    const RemovedName removed = removed_name(what, exam_.environment.minor);
    if (removed.installable && !removed.requirement.empty())
      return InstallCommand{{removed.requirement}}.text(exam_);
    return concat("Load it with the version of ", from ? from->name : top,
                  " that wrote it, and save it anew.");
  }

  // Estimators carry the version that wrote them; trees of before 1.3 have another layout.
  void scikit_learn() {
    const Distribution* here = exam_.environment.find("scikit-learn");
    const std::optional<Version> wrote = Version::parse(pickled_.contents.scikit_learn);
    if (!here || !here->version || !wrote || pickled_.contents.scikit_learn.empty()) return;
    const bool same = wrote->major() == here->version->major() && wrote->minor() == here->version->minor();
    if (same || !findings_.empty()) return;
    const auto& names = pickled_.contents.names;
    const bool trees = std::any_of(names.begin(), names.end(),
                                   [](const auto& n) { return n.first == "sklearn.tree._tree"; });
    const Version fields = *Version::parse("1.3");
    const bool refused = trees && (*wrote < fields) != (*here->version < fields);
    add(refused ? Severity::error : Severity::warning, Sureness::certain,
        concat(file_, " holds an estimator of scikit-learn ", pickled_.contents.scikit_learn, ", and ",
               here->shown(), " is installed"),
        {path_.string()},
        refused ? "ValueError: node array from the pickle has an incompatible dtype"
                : "InconsistentVersionWarning; it may fail or give other results",
        concat(InstallCommand{{concat("scikit-learn==", pickled_.contents.scikit_learn)}}.text(exam_),
               "   # or fit and save it anew"));
  }

  void torch() {
    const Distribution* here = exam_.environment.find("torch");
    if (!here || !here->version) return;
    const bool strict = *here->version >= *Version::parse("2.6");
    std::vector<std::string> refused;
    for (const auto& [module, name] : pickled_.contents.names) {
      if (!is_allowed(module, name)) refused.push_back(concat(module, ".", name));
    }
    if (pickled_.script)
      add(Severity::note, Sureness::certain, concat(file_, " is TorchScript"), {path_.string()},
          "torch.load refuses it", "torch.jit.load(path)");
    else if (strict && !refused.empty())
      add(Severity::warning, Sureness::likely,
          concat(file_,
                 " holds more than tensors, which torch.load refuses since version 2.6 unless it is told to "
                 "(weights_only)"),
          {concat("asks for ", some_of(refused))},
          concat("UnpicklingError: Weights only load failed. Unsupported global: ", refused.front()),
          "torch.load(path, weights_only=False)   # only if you trust who made it; better: save "
          "model.state_dict()");
    const bool gpu =
        !exam_.system.nvidia_driver.empty() && here->version_text.find("+cpu") == std::string::npos;
    if (pickled_.contents.on_gpu && !gpu)
      add(Severity::warning, Sureness::likely, concat(file_, " was saved from a GPU, and there is none here"),
          {path_.string()},
          "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is "
          "False",
          "torch.load(path, map_location='cpu')");
  }

  const Exam& exam_;
  const Pickled& pickled_;
  Findings& findings_;
  const fs::path& path_;
  std::string file_;
};

}  // namespace

void find_pickled(const Exam& exam, Findings& findings) {
  if (exam.options.model.empty()) return;
  if (const std::optional<Pickled> pickled = read_pickled(exam.options.model))
    Judge(exam, *pickled, findings).run();
}

}  // namespace plimsoll::doctor

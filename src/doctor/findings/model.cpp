// The model file given: who wrote it, whether this environment loads it, what to do if not.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/data_file.h"
#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/program_file.h"
#include "doctor/model_file.h"
#include "doctor/python/source.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

class Judge {
 public:
  Judge(const Exam& exam, const ModelFile& model, Findings& findings)
      : exam_(exam), model_(model), findings_(findings), file_(exam.options.model.filename().string()) {}

  void run() {
    keras_ = exam_.environment.find("keras");
    const bool told_legacy = exam_.system.variable("TF_USE_LEGACY_KERAS") == "1";
    if (!keras_ || told_legacy) {
      if (const Distribution* legacy = exam_.environment.find("tf-keras")) keras_ = legacy;
    }
    origin();
    if (!keras_) {
      add(Severity::error, Sureness::certain, "No Keras is installed that could load " + file_, {},
          "ModuleNotFoundError: No module named 'keras'", "", "keras");
      return;
    }
    if (!exam_.environment.find("h5py")) {
      add(Severity::error, Sureness::certain,
          "h5py is not installed: Keras cannot read the weights in " + file_, {},
          "ImportError: h5py is required", "", "h5py");
    }
    versions();
    if (model_.format == ModelFile::Format::h5 && file_.ends_with(".keras") && keras_major() >= 3) {
      const std::filesystem::path renamed =
          std::filesystem::path(exam_.options.model).replace_extension(".h5");
      add(Severity::error, Sureness::certain,
          concat(file_, " is an HDF5 model (.h5) under the name of a Keras archive (.keras)"), {},
          "ValueError: File not found, or not an accessible `.keras` zip file",
          concat("mv ", shell_word(exam_.options.model), " ", shell_word(renamed)));
    }
    if (model_.format != ModelFile::Format::weights) layers();
    if (findings_.size() == 1 && model_.format != ModelFile::Format::weights) {
      findings_.front().leads_to = concat(keras_->shown(), " of this environment loads it.");
    }
  }

 private:
  void add(Severity severity, Sureness sureness, std::string what, std::vector<std::string> seen,
           std::string leads_to, std::string fix, std::string install = "") {
    findings_.push_back(
        {"", severity, sureness, std::move(what), std::move(seen), std::move(leads_to), std::move(fix)});
    if (!install.empty()) findings_.back().installs = {{std::move(install), "", false}};
  }
  // tf-keras has the first two numbers of the TensorFlow it belongs to.
  std::string old_keras() const {
    const Distribution* tensorflow = nullptr;
    for (const char* name : {"tensorflow", "tensorflow-cpu", "tensorflow-macos"}) {
      if (!tensorflow) tensorflow = exam_.environment.find(name);
    }
    const std::string wanted =
        tensorflow && tensorflow->version
            ? concat("tf-keras==", tensorflow->version->major(), ".", tensorflow->version->minor(), ".*")
            : "tf-keras";
    return concat(InstallCommand{{wanted}}.text(exam_),
                  "   # then TF_USE_LEGACY_KERAS=1, load, and save as .keras");
  }
  uint64_t keras_major() const { return keras_->version ? keras_->version->major() : 0; }

  void origin() {
    const bool weights = model_.format == ModelFile::Format::weights;
    const std::string by =
        model_.version_text.empty() ? "a Keras that left no version" : "Keras " + model_.version_text;
    std::vector<std::string> seen{concat("format: ", weights ? "weights only (.h5)"
                                                     : model_.format == ModelFile::Format::keras
                                                         ? "Keras archive (.keras)"
                                                         : "whole model (.h5)")};
    if (!model_.backend.empty()) seen.push_back("backend: " + model_.backend);
    if (!model_.layers.empty()) seen.push_back(concat(model_.layers.size(), " layers"));
    if (!weights) {
      add(Severity::note, Sureness::certain, concat(file_, " was written by ", by), seen, "", "");
      return;
    }
    // Keras writes weights alone under a name that says so; under another someone may take it for a model.
    add(file_.ends_with(".weights.h5") ? Severity::note : Severity::warning, Sureness::certain,
        concat(file_, " holds weights alone, no model (written by ", by, ")"), seen,
        "ValueError: No model config found in the file, from load_model",
        "Build the model in Python, then model.load_weights(path).");
  }

  void versions() {
    if (!model_.version || !keras_->version) return;
    const Version &wrote = *model_.version, &have = *keras_->version;
    const std::string seen = concat("written by Keras ", wrote.text(), ", installed is ", keras_->shown());
    if (wrote.major() >= 3 && have.major() < 3) {
      add(Severity::error, model_.format == ModelFile::Format::keras ? Sureness::certain : Sureness::likely,
          concat(file_, " is from Keras 3; this environment has Keras 2"), {seen},
          "TypeError or ValueError: the layers' configs are written differently", "", "keras>=3");
    } else if (wrote.major() < 2) {
      add(Severity::error, Sureness::likely,
          concat(file_, " is from Keras 1, which today's Keras does not read"), {seen},
          "ValueError: Unknown layer, or unknown arguments",
          "Load and save it again with Keras 2.2 (a venv with Python 3.6).");
    } else if (wrote.major() == have.major() && wrote.minor() > have.minor()) {
      add(Severity::warning, Sureness::possible,
          concat(file_, " is from a newer Keras than this environment's"), {seen},
          "ValueError: unknown layers or arguments, if it uses what is new", "",
          concat("keras>=", wrote.text()));
    } else if (wrote.major() == 2 && have.major() >= 3 && model_.format == ModelFile::Format::keras) {
      add(Severity::warning, Sureness::possible, concat(file_, " is a .keras file from Keras 2"), {seen},
          "Some layers' configs changed with Keras 3", old_keras());
    }
  }

  // The classes this Keras has, from the text of its layers/__init__.py; empty if it is not found.
  std::set<std::string, std::less<>> known_layers() const {
    std::set<std::string, std::less<>> names;
    for (const char* file :
         {"keras/layers/__init__.py", "keras/api/layers/__init__.py",
          "tf_keras/api/_v2/keras/layers/__init__.py", "keras/api/_v2/keras/layers/__init__.py"}) {
      const auto path = exam_.environment.locate(file);
      const std::string text = path.empty() ? "" : read_text(path).value_or("");
      std::string_view rest = text;
      for (const std::string_view line : split(rest, "\n")) {
        std::vector<ImportStatement> imports;
        add_imports(trim(line), imports);
        for (const ImportStatement& s : imports) names.insert(s.bound.begin(), s.bound.end());
      }
      if (names.contains("Dense")) break;
    }
    return names.contains("Dense") ? names : std::set<std::string, std::less<>>();
  }

  void layers() {
    const auto known = known_layers();
    const std::set<std::string, std::less<>> models = {"Functional", "Sequential", "Model", "InputLayer"};
    std::set<std::string> unknown, custom, removed_options;
    bool lambda = false;
    for (const ModelFile::Layer& layer : model_.layers) {
      lambda |= layer.lambda_code;
      if (!layer.package.empty()) {
        custom.insert(layer.package + ">" + layer.class_name);
        const std::string top = layer.module.substr(0, layer.module.find('.'));
        if (!top.empty() && top != "builtins" && !exam_.environment.path.find(top))
          lost_module_ = layer.module;
      } else if (layer.operation) {
        continue;
      } else if (keras_major() >= 3 && only_in_keras_2(layer.class_name)) {
        unknown.insert(layer.class_name);
      } else if (!known.empty() && !known.contains(layer.class_name) && !models.contains(layer.class_name)) {
        unknown.insert(layer.class_name);
      } else if (keras_major() >= 3 && model_.format == ModelFile::Format::h5) {
        check_options(layer, removed_options);
      }
    }
    report(unknown, custom, removed_options, lambda);
  }

  static bool only_in_keras_2(const std::string& name) {
    for (const std::string_view gone :
         {"TFOpLambda", "SlicingOpLambda", "CuDNNLSTM", "CuDNNGRU", "ThresholdedReLU", "LocallyConnected1D",
          "LocallyConnected2D", "DenseFeatures"}) {
      if (name == gone) return true;
    }
    return false;
  }

  // Arguments of Keras 2 that the classes of Keras 3 refuse.
  static void check_options(const ModelFile::Layer& layer, std::set<std::string>& out) {
    for (const std::string& option : layer.options) {
      const bool depthwise = layer.class_name.starts_with("DepthwiseConv") && option == "groups";
      const bool recurrent =
          option == "time_major" && (layer.class_name == "LSTM" || layer.class_name == "GRU" ||
                                     layer.class_name == "SimpleRNN" || layer.class_name == "RNN");
      if (depthwise || recurrent) out.insert(layer.class_name + "(" + option + "=...)");
    }
  }

  void report(const std::set<std::string>& unknown, const std::set<std::string>& custom,
              const std::set<std::string>& options, bool lambda) {
    const auto listed = [](const std::set<std::string>& s) { return some_of({s.begin(), s.end()}, 6); };
    const std::string by_author = "keras.models.load_model(path, custom_objects={...})";
    if (!unknown.empty()) {
      add(Severity::error, Sureness::likely, concat(keras_->shown(), " does not know layers of ", file_),
          {listed(unknown)}, concat("ValueError: Unknown layer: '", *unknown.begin(), "'"),
          std::any_of(unknown.begin(), unknown.end(), only_in_keras_2) ? old_keras() : by_author);
    }
    if (!options.empty()) {
      add(Severity::error, Sureness::certain, concat(keras_->shown(), " refuses arguments saved in ", file_),
          {listed(options)}, "ValueError: Unrecognized keyword arguments passed to the layer", old_keras());
    }
    if (!custom.empty()) {
      const bool lost = !lost_module_.empty() && lost_module_ != "__main__";
      add(lost ? Severity::warning : Severity::note, Sureness::certain,
          concat(file_, " uses classes of its author",
                 lost ? concat(", from the module ", lost_module_, ", which is not here") : ""),
          {listed(custom)},
          lost ? concat("TypeError: Could not locate class, unless ", lost_module_, " is imported first")
               : "They must be imported before it is loaded.",
          by_author);
    }
    if (!model_.short_losses.empty() && keras_major() >= 3) {
      const std::string& name = model_.short_losses.front();
      add(Severity::error, Sureness::certain,
          concat(file_, " was compiled with loss='", name, "', a short name that ", keras_->shown(),
                 " does not find in an .h5"),
          {}, concat("TypeError or ValueError: Could not locate function '", name, "'"),
          concat("keras.models.load_model(path, compile=False)   # then compile it again, and save it as "
                 ".keras"));
    }
    if (!model_.own_functions.empty()) {
      add(Severity::warning, Sureness::likely,
          concat(file_, " was compiled with functions of its author: ", some_of(model_.own_functions)), {},
          concat("TypeError or ValueError: Could not locate function '", model_.own_functions.front(), "'"),
          "keras.models.load_model(path, compile=False)   # or with custom_objects={...}, to go on training");
    }
    if (lambda) {
      add(Severity::warning, Sureness::certain, concat(file_, " holds Python code (a Lambda layer)"), {},
          "ValueError unless safe_mode is off; the code runs only in the version of Python that wrote it",
          "keras.models.load_model(path, safe_mode=False)   # only if you trust who made it");
    }
  }

  const Exam& exam_;
  const ModelFile& model_;
  Findings& findings_;
  std::string file_;
  const Distribution* keras_ = nullptr;
  std::string lost_module_;
};

struct OtherKind {
  std::string what, fix;
};

// What people have under the name of a model, told by its first bytes.
std::optional<OtherKind> other_kind(const std::filesystem::path& path) {
  const std::string head = read_text(path, 1u << 12).value_or("");
  const std::string text = lower_case(trim(head).substr(0, 64));
  const std::string folder = shell_word(path.has_parent_path() ? path.parent_path() : ".");
  if (text.starts_with("version https://git-lfs"))
    return OtherKind{"a pointer of Git LFS: the file itself was not downloaded",
                     concat("git -C ", folder, " lfs pull")};
  if (text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<?xml"))
    return OtherKind{"a web page (HTML), as a download that needs a confirmation leaves it",
                     "Download it again, by the link to the file itself."};
  if (head.starts_with("\x1f\x8b"))
    return OtherKind{"a compressed file (gzip)",
                     concat("gunzip -S '' -k ", shell_word(path), "   # or tar -xzf")};
  if (head.empty()) return OtherKind{"an empty file", "Copy it again, or go back to an earlier checkpoint."};
  if (head.find_first_not_of('\0') == std::string::npos)
    return OtherKind{"a file of zeros, as a full or failed disk leaves it",
                     "Copy it again, or go back to an earlier checkpoint."};
  if (head.size() > 8 && head.substr(4, 4) == "TFL3")
    return OtherKind{"a TensorFlow Lite model", "tf.lite.Interpreter(model_path=path)"};
  if (head.starts_with("\x80\x02") || head.starts_with("\x80\x04") || head.starts_with("\x80\x05"))
    return OtherKind{"a pickle", "pickle.load(open(path, 'rb'))   # only if you trust who made it"};
  if (text.starts_with("{"))
    return OtherKind{"JSON: a model's layers without its weights, perhaps",
                     "keras.models.model_from_json(open(path).read())"};
  return std::nullopt;
}

// The archive packed anew, without the folder around its files.
std::optional<OtherKind> in_folder(const Exam& exam, std::string_view said) {
  const size_t at = said.find("got it in a folder: ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string inner(said.substr(at + 20, said.rfind('/') - at - 20));
  const std::string python = shell_word(exam.environment.python), file = shell_word(exam.options.model);
  return OtherKind{concat("an archive that holds the model in a folder (", inner, ")"),
                   concat("d=$(mktemp -d) && ", python, " -m zipfile -e ", file, " \"$d\" && ", python,
                          " -m zipfile -c ", file, " \"$d\"/", shell_word(inner), "/*")};
}

// A name that no model has: tables, texts, pictures.
bool is_no_model(const std::filesystem::path& path) {
  const std::string suffix = lower_case(path.extension().string());
  for (const std::string_view known :
       {".txt",  ".md",   ".json", ".yaml",     ".yml", ".toml", ".gz",        ".bz2",
        ".xz",   ".xlsx", ".log",  ".tfrecord", ".mat", ".zip",  ".tfrecords", ".gif",
        ".webp", ".tif",  ".tiff", ".mp3",      ".mp4", ".pdf"}) {
    if (suffix == known) return true;
  }
  return false;
}

// A .zip that holds what a .keras file holds.
bool is_zipped_model(const Exam& exam) {
  if (exam.options.model.extension() != ".zip") return false;
  const std::optional<MappedFile> file = MappedFile::open(exam.options.model);
  return file && contains(file->bytes().text(), "config.json") &&
         contains(file->bytes().text(), "model.weights.h5");
}

// The file of a checkpoint of TensorFlow that tells what lies where in the others; empty if none is lost.
std::string lost_index(const std::filesystem::path& folder) {
  for (const std::filesystem::path& file : list_folder(folder)) {
    const std::string name = file.filename().string();
    const size_t at = name.find(".data-00000-of-");
    if (at != std::string::npos && !is_there(folder / (name.substr(0, at) + ".index")))
      return name.substr(0, at) + ".index";
  }
  return "";
}

// A folder that is no SavedModel: checkpoints, or data.
void judge_folder(const Exam& exam, Findings& findings) {
  const std::string folder = exam.options.model.filename().string(), lost = lost_index(exam.options.model);
  const bool whole = lost.empty();
  findings.push_back(
      {"",
       whole ? Severity::note : Severity::error,
       whole ? Sureness::possible : Sureness::certain,
       whole ? concat(folder, " is a folder, of which the doctor knows no kind")
             : concat(folder, " holds a checkpoint without its index: ", lost, " is not there"),
       {(exam.options.model / lost).string()},
       whole ? "" : "NotFoundError: Unsuccessful TensorSliceReader constructor",
       whole ? "" : concat("Copy ", lost, " too: a checkpoint is its .index and its .data files.")});
}

// Files that are no models: data, whole or not.
bool judge_data(const Exam& exam, Findings& findings) {
  const std::string name = exam.options.model.filename().string();
  const bool may_be_model =
      name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".keras") || is_zipped_model(exam);
  const std::optional<MappedFile> file = may_be_model ? std::nullopt : MappedFile::open(exam.options.model);
  const DataFile data = file ? inspect_data(file->bytes(), name) : DataFile{};
  if (data.kind.empty()) return false;
  if (exam.environment.minor < 8 && file->bytes().text().starts_with("\x80\x05")) {
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        concat(name, " is a pickle of protocol 5, which Python 3.", exam.environment.minor,
                               " does not read"),
                        {exam.options.model.string()},
                        "ValueError: unsupported pickle protocol: 5",
                        "Write it with pickle.dump(..., protocol=4), or read it with Python 3.8 or newer."});
    return true;
  }
  const bool whole = data.trouble.empty();
  findings.push_back(
      {"",
       whole       ? Severity::note
       : data.sure ? Severity::error
                   : Severity::warning,
       whole ? Sureness::likely : Sureness::certain,
       concat(name, " is ", data.kind,
              whole
                  ? ""
                  : concat(", and ", data.damaged ? "damaged: " : "cannot be read as it is: ", data.trouble)),
       {exam.options.model.string()},
       whole ? data.whole : data.error,
       whole ? "" : data.fix});
  return true;
}

// The first file of a SavedModel's variables that is not there: they lie beside the graph, in an index and
// some files of numbers. Empty if none is lost, or the graph has no variables.
std::string lost_variables(const std::filesystem::path& folder) {
  const std::optional<MappedFile> graph = MappedFile::open(folder / "saved_model.pb");
  if (!graph || !contains(graph->bytes().text(), "VarHandleOp")) return "";
  if (!is_there(folder / "variables/variables.index")) return "variables/variables.index";
  constexpr std::string_view kFirst = "variables.data-00000-of-";
  for (const std::filesystem::path& file : list_folder(folder / "variables")) {
    const std::string name = file.filename().string();
    const size_t of = name.rfind("-of-");
    if (!name.starts_with("variables.data-") || of == std::string::npos) continue;
    const std::string count = name.substr(of + 4);
    for (size_t i = 0; i < 1000 && i < std::strtoul(count.c_str(), nullptr, 10); ++i) {
      const std::string number = std::to_string(i);
      const std::string shard =
          concat("variables/variables.data-", std::string(5 - std::min<size_t>(5, number.size()), '0'),
                 number, "-of-", count);
      if (!is_there(folder / shard)) return shard;
    }
    return "";
  }
  return concat("variables/", kFirst, "00001");
}

// HDF5 marks a file while it is written, and clears the mark when it is closed.
bool left_open(const Exam& exam, Findings& findings) {
  const std::optional<MappedFile> file = MappedFile::open(exam.options.model);
  if (!file || !is_open_for_writing(file->bytes())) return false;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       concat(exam.options.model.filename().string(),
              " was not closed by the program that wrote it, which ended before, or still runs"),
       {exam.options.model.string()},
       "OSError: Unable to open file (file is already open for write)",
       concat("h5clear -s ", shell_word(exam.options.model),
              "   # of the package hdf5-tools; if its writer has ended. Or an earlier checkpoint")});
  return true;
}

// A folder that TensorFlow wrote; Keras 2 loads it, Keras 3 does not.
void saved_model(const Exam& exam, Findings& findings) {
  const std::string folder = exam.options.model.filename().string();
  if (const std::string lost = lost_variables(exam.options.model); !lost.empty()) {
    findings.push_back(
        {"",
         Severity::error,
         Sureness::certain,
         concat(folder, " is a SavedModel without its variables: ", lost, " is not there"),
         {(exam.options.model / lost).string()},
         "NotFoundError: Could not find variables, or Op type not registered, when it is loaded",
         "Copy the whole folder again, the folder variables in it too (.gitignore may leave it out)."});
    return;
  }
  const Distribution* keras = exam.environment.find("keras");
  if (!keras || !keras->version || keras->version->major() < 3) return;
  findings.push_back({"",
                      Severity::error,
                      Sureness::certain,
                      concat(exam.options.model.filename().string(), " is a SavedModel of TensorFlow, which ",
                             keras->shown(), " does not load"),
                      {(exam.options.model / "saved_model.pb").string()},
                      "ValueError: File format not supported, from load_model",
                      "Use keras.layers.TFSMLayer(path, call_endpoint='serving_default') with TensorFlow, or "
                      "convert it: load it with tf-keras and save it as .keras."});
}

}  // namespace

void find_model(const Exam& exam, Findings& findings) {
  if (exam.options.model.empty()) return;
  if (is_there(exam.options.model / "saved_model.pb")) return saved_model(exam, findings);
  if (is_folder(exam.options.model)) return judge_folder(exam, findings);
  if (is_program(exam.options.model) || left_open(exam, findings) || judge_data(exam, findings)) return;
  if (is_no_model(exam.options.model)) {
    Finding f;
    f.what = concat(exam.options.model.filename().string(), " is no file whose kind the doctor knows");
    f.evidence = {exam.options.model.string()};
    f.sureness = Sureness::possible;
    findings.push_back(f);
    return;
  }
  try {
    const ModelFile model = read_model_file(exam.options.model);
    Judge(exam, model, findings).run();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_file) throw;
    const std::string file = exam.options.model.filename().string();
    auto other = in_folder(exam, e.what());
    if (!other) other = other_kind(exam.options.model);
    findings.push_back({"",
                        Severity::error,
                        Sureness::certain,
                        other ? concat(file, " is no model but ", other->what)
                              : concat(file, " is not a Keras model, or it is damaged"),
                        {e.what()},
                        "OSError or ValueError when it is loaded",
                        other ? other->fix : "Copy it again, or go back to an earlier checkpoint."});
  }
}

}  // namespace plimsoll::doctor

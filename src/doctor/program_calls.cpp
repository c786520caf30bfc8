#include "doctor/program_calls.h"

#include <algorithm>

#include "doctor/commands.h"
#include "doctor/module_project.h"
#include "doctor/program_reader.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// An argument that a function took up to a version of its project.
struct OldArgument {
  std::string_view package;    // that the program imports; several with spaces
  std::string_view project;    // whose version counts; several with spaces: the first that is installed
  std::string_view since;      // the version that refuses it
  std::string_view functions;  // "Adam SGD"; "*.fit": a method
  std::string_view arguments;
  std::string_view now;
};
constexpr std::string_view kOptimizers = "Adam SGD RMSprop Adagrad Adadelta Adamax Nadam Ftrl AdamW";
constexpr OldArgument kArguments[] = {
    {"keras tensorflow", "keras", "3", kOptimizers, "lr", "learning_rate"},
    {"keras tensorflow", "keras", "3", kOptimizers, "decay",
     "learning_rate=keras.optimizers.schedules..., in place of decay"},
    {"keras tensorflow", "keras", "2.1", "fit", "nb_epoch", "epochs"},
    {"keras tensorflow", "keras", "2.1", "Dense Conv2D Conv1D",
     "init border_mode output_dim nb_filter W_regularizer",
     "kernel_initializer, padding, units, filters, kernel_regularizer"},
    {"keras tensorflow", "keras", "3", "ModelCheckpoint", "period", "save_freq"},
    {"keras tensorflow", "keras", "3", "fit", "workers use_multiprocessing max_queue_size",
     "keras.utils.PyDataset(workers=...)"},
    {"sklearn", "scikit-learn", "1.4", "OneHotEncoder", "sparse", "sparse_output"},
    {"sklearn", "scikit-learn", "1.4",
     "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor", "base_estimator",
     "estimator"},
    {"sklearn", "scikit-learn", "1", "KMeans", "n_jobs precompute_distances", "nothing: leave it out"},
    {"sklearn", "scikit-learn", "1.2", "LinearRegression Ridge Lasso ElasticNet", "normalize",
     "make_pipeline(StandardScaler(), ...)"},
    {"sklearn", "scikit-learn", "1.7", "TSNE", "n_iter", "max_iter"},
    {"sklearn", "scikit-learn", "1.8", "check_array check_X_y", "force_all_finite", "ensure_all_finite"},
    {"gensim", "gensim", "4", "Word2Vec FastText Doc2Vec", "size", "vector_size"},
    {"gensim", "gensim", "4", "Word2Vec FastText Doc2Vec", "iter", "epochs"},
    {"pandas", "pandas", "2", "read_csv read_table", "error_bad_lines warn_bad_lines", "on_bad_lines='skip'"},
    {"pandas", "pandas", "2", "read_csv read_table", "squeeze", ".squeeze('columns')"},
    {"pandas", "pandas", "2", "read_csv read_table", "mangle_dupe_cols prefix", "nothing: leave it out"},
    {"matplotlib", "matplotlib", "3.1", "hist", "normed", "density"},
    {"pandas", "pandas", "2", "to_csv", "line_terminator", "lineterminator"},
    {"transformers", "transformers", "4.46", "TrainingArguments Seq2SeqTrainingArguments",
     "evaluation_strategy", "eval_strategy"},
    {"xgboost", "xgboost", "2.1", "fit", "early_stopping_rounds eval_metric",
     "XGBClassifier(early_stopping_rounds=..., eval_metric=...)"},
    {"lightgbm", "lightgbm", "4", "train fit cv", "verbose_eval early_stopping_rounds",
     "callbacks=[lightgbm.early_stopping(...), lightgbm.log_evaluation(...)]"},
};

// A method or function that its project dropped: it stands behind a dot.
struct OldMethod {
  std::string_view package, project, since, method, now;
};
constexpr OldMethod kMethods[] = {
    {"keras tensorflow", "keras", "2.6", "predict_classes", "model.predict(x).argmax(axis=-1)"},
    {"keras tensorflow", "keras", "2.6", "predict_proba", "model.predict(x)"},
    {"keras tensorflow", "keras", "3", "fit_generator", "model.fit(generator, ...)"},
    {"keras tensorflow", "keras", "3", "evaluate_generator", "model.evaluate(generator, ...)"},
    {"keras tensorflow", "keras", "3", "predict_generator", "model.predict(generator, ...)"},
    {"pandas", "pandas", "2", "iteritems", ".items()"},
    {"pandas", "pandas", "1", "ix", ".loc[...] or .iloc[...]"},
    {"pandas", "pandas", "1", "as_matrix", ".to_numpy()"},
    {"pandas", "pandas", "1", "get_value", ".at[...]"},
    {"PIL", "pillow", "10", "textsize", "draw.textbbox((0, 0), text, font=font)"},
    {"PIL", "pillow", "10", "getsize", "font.getbbox(text)"},
    {"gensim", "gensim", "4", "index2word", ".index_to_key"},
    {"gensim", "gensim", "4", "init_sims", "nothing: leave it out"},
    {"sklearn", "scikit-learn", "1.2", "get_feature_names", ".get_feature_names_out()"},
    {"networkx", "networkx", "3", "info", "print(graph)"},
    {"jax", "jax", "0.6", "tree_map", "jax.tree.map(...)"},
    {"numpy", "numpy", "2.3", "tostring", ".tobytes()"},
};

// A module, or what is below it, that went with a version. Keras and TensorFlow make their modules by code:
// what is missing there does not show in their files.
struct OldModule {
  std::string_view module, project, since, now;
};
constexpr OldModule kModules[] = {
    {"keras.preprocessing.image.ImageDataGenerator", "keras", "3",
     "keras.utils.image_dataset_from_directory and layers such as RandomFlip"},
    {"keras.preprocessing.text.Tokenizer", "keras", "3", "keras.layers.TextVectorization"},
    {"keras.layers.normalization", "keras", "3", "from keras.layers import ..."},
    {"keras.layers.advanced_activations", "keras", "2.6", "from keras.layers import ..."},
    {"keras.layers.convolutional", "keras", "3", "from keras.layers import ..."},
    {"keras.layers.core", "keras", "3", "from keras.layers import ..."},
    {"keras.layers.recurrent", "keras", "2.6", "from keras.layers import ..."},
    {"keras.layers.embeddings", "keras", "2.6", "from keras.layers import ..."},
    {"keras.layers.merge", "keras", "2.13", "from keras.layers import ..."},
    {"keras.utils.vis_utils", "keras", "3", "from keras.utils import plot_model"},
    {"keras.utils.data_utils", "keras", "3", "from keras.utils import get_file"},
    {"keras.utils.multi_gpu_model", "keras", "2.4", "keras.distribution or tf.distribute"},
    {"keras.layers.experimental", "keras", "3", "keras.layers.Rescaling, keras.layers.RandomFlip ..."},
    {"keras.wrappers", "keras", "2.12", "from scikeras.wrappers import ... (pip install scikeras)"},
    {"statsmodels.tsa.arima_model", "statsmodels", "0.13", "from statsmodels.tsa.arima.model import ARIMA"},
    {"tensorflow.contrib", "tensorflow", "2",
     "tf_slim for contrib.slim, tensorflow_addons or Keras for the rest"},
    {"tensorflow.examples.tutorials", "tensorflow", "2", "keras.datasets.mnist"},
};

bool has_argument(std::string_view arguments, std::string_view name) {
  const std::vector<std::string> names = read_arguments(arguments).names;
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Reader : public ProgramReader {
 public:
  using ProgramReader::ProgramReader;

  void run() {
    for (const OldArgument& old : kArguments) arguments(old);
    for (const OldMethod& old : kMethods) methods(old);
    modules();
    frames();
    yaml_loader();
    clock();
    has_key();
    headless();
  }

 private:
  void arguments(const OldArgument& old) {
    if (!imports(old.package) || !is_at_least(old.project, old.since)) return;
    for (const std::string_view function : split(old.functions, " ")) {
      if (is_own(function)) continue;
      for_each_call(function, [&](size_t line, size_t, std::string_view arguments) {
        for (const std::string_view name : split(old.arguments, " ")) {
          if (!has_argument(arguments, name)) continue;
          add(line,
              concat("gives ", name, "= to ", function, "(), which ", shown(old.project), " does not take"),
              concat("TypeError or ValueError: unexpected keyword argument '", name, "'"),
              concat("Write ", old.now, " instead of ", name,
                     ", or: ", InstallCommand{{concat(old.project, "<", old.since)}}.text(exam_)));
        }
      });
    }
  }

  void methods(const OldMethod& old) {
    if (!imports(old.package) || !is_at_least(old.project, old.since) || is_own(old.method)) return;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = lines_[i].text;
      const std::string behind = concat(".", old.method);
      for (size_t at = text.find(behind); at != std::string_view::npos; at = text.find(behind, at + 1)) {
        const std::string_view rest = trim(text.substr(at + behind.size()));
        const bool used = old.method == "ix" || old.method == "index2word" ? true : rest.starts_with("(");
        const bool longer = at + behind.size() < text.size() && is_word_character(text[at + behind.size()]);
        if (!used || longer || is_guarded(i) || !may_be_of(old, text.substr(0, at))) continue;
        add(i, concat("calls .", old.method, ", which ", shown(old.project), " does not have"),
            concat("AttributeError: no attribute '", old.method, "'"),
            concat("Write ", old.now,
                   " instead, or: ", InstallCommand{{concat(old.project, "<", old.since)}}.text(exam_)));
      }
    }
  }
  // Some names are those of other things too: info() of a logger, tree_map of jax.tree_util.
  bool may_be_of(const OldMethod& old, std::string_view before) const {
    if (old.package == "networkx" || old.package == "jax")
      return before.ends_with("nx") || before.ends_with("networkx") || (before.ends_with("jax"));
    if (old.method == "predict_proba")
      return !imported_.contains("sklearn") && !imported_.contains("xgboost") &&
             !imported_.contains("lightgbm");
    return true;
  }

  void modules() {
    for (const auto& [line, dotted] : taken_) {
      std::string_view name = dotted;
      const bool inner = name.starts_with("tensorflow.keras.");
      if (inner) name.remove_prefix(11);
      for (const OldModule& old : kModules) {
        const bool below = name.starts_with(old.module) &&
                           (name.size() == old.module.size() || name[old.module.size()] == '.');
        const Distribution* d = find_project(exam_.environment, old.project);
        // TensorFlow's own Keras still has what was only moved.
        const bool kept = inner && contains(old.module, "preprocessing");
        if (!below || kept || !d || !d->version || *d->version < *Version::parse(old.since)) continue;
        tell_module(line, old, d->shown());
      }
    }
    if (!imports("keras tensorflow") || !is_at_least("keras", "3")) return;
    const auto experimental =
        std::find_if(std::begin(kModules), std::end(kModules),
                     [](const OldModule& old) { return old.module == "keras.layers.experimental"; });
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (contains(lines_[i].text, "layers.experimental.preprocessing.") && !is_guarded(i))
        tell_module(i, *experimental, shown("keras"));
    }
  }
  void tell_module(size_t line, const OldModule& old, const std::string& from) {
    for (const Finding& f : findings_) {
      if (contains(f.what, old.module)) return;
    }
    add(line, concat("uses ", old.module, ", which ", from, " does not have"),
        concat("ImportError, ModuleNotFoundError or AttributeError: no ", old.module),
        concat("Write ", old.now, " instead, or an older one: ",
               InstallCommand{{concat(old.project, "<", old.since)}}.text(exam_)));
  }

  // DataFrame.append went with pandas 2: of a name that got a table, or with an argument that no list takes.
  void frames() {
    if (!imported_.contains("pandas") || !is_at_least("pandas", "2")) return;
    std::set<std::string, std::less<>> tables;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const std::string_view text = lines_[i].text;
      const size_t equals = text.find('=');
      if (equals == std::string_view::npos) continue;
      const std::string_view value = trim(text.substr(equals + 1)), name = trim(text.substr(0, equals));
      for (const std::string_view made :
           {"pd.DataFrame(", "pd.Series(", "pd.read_", "pd.concat(", "pd.merge(", "pandas.DataFrame(",
            "pandas.read_", "pandas.concat("}) {
        if (value.starts_with(made)) tables.emplace(name);
      }
    }
    for_each_call("append", [&](size_t line, size_t at, std::string_view arguments) {
      const std::string_view text = lines_[line].text.substr(0, at);
      if (!text.ends_with('.')) return;
      size_t begin = text.size() - 1;
      while (begin > 0 && is_word_character(text[begin - 1])) --begin;
      const std::string_view name = text.substr(begin, text.size() - 1 - begin);
      if (!tables.contains(name) && !has_argument(arguments, "ignore_index")) return;
      add(line, concat("calls .append of a table (", name, "), which ", shown("pandas"), " does not have"),
          "AttributeError: 'DataFrame' object has no attribute 'append'",
          concat("Write ", name, " = pd.concat([", name, ", pd.DataFrame([row])], ignore_index=True), or: ",
                 InstallCommand{{"pandas<2"}}.text(exam_)));
    });
  }

  void yaml_loader() {
    if (!imported_.contains("yaml") || !is_at_least("pyyaml", "6")) return;
    for_each_call("yaml.load", [&](size_t line, size_t, std::string_view arguments) {
      if (contains(arguments, ",") || contains(arguments, "Loader")) return;
      add(line, concat("calls yaml.load() without a Loader, which ", shown("pyyaml"), " insists on"),
          "TypeError: load() missing 1 required positional argument: 'Loader'",
          concat("Write yaml.safe_load(", arguments, ") instead."));
    });
  }

  void clock() {
    if (!imported_.contains("time") || exam_.environment.minor < 8) return;
    if (contains(source_, "time.clock =")) return;
    for_each_call("time.clock", [&](size_t line, size_t, std::string_view) {
      add(line, concat("calls time.clock(), which Python 3.", exam_.environment.minor, " does not have"),
          "AttributeError: module 'time' has no attribute 'clock'", "Write time.perf_counter() instead.");
    });
  }

  void has_key() {
    if (is_own("has_key")) return;
    for_each_call("has_key", [&](size_t line, size_t at, std::string_view) {
      if (at == 0 || lines_[line].text[at - 1] != '.') return;
      add(line, "calls .has_key(), which dictionaries of Python 3 do not have",
          "AttributeError: 'dict' object has no attribute 'has_key'", "Write `key in dictionary` instead.");
    });
  }

  void headless() {
    const Environment& e = exam_.environment;
    const bool windows = e.find("opencv-python") || e.find("opencv-contrib-python");
    if (!imported_.contains("cv2") || windows) return;
    const Distribution* headless = e.find("opencv-python-headless");
    if (!headless) headless = e.find("opencv-contrib-python-headless");
    if (!headless) return;
    for (const std::string_view call :
         {"imshow", "namedWindow", "waitKey", "destroyAllWindows", "createTrackbar"}) {
      for_each_call(concat("cv2.", call), [&](size_t line, size_t, std::string_view) {
        add(line, concat("opens windows (cv2.", call, "), which ", headless->shown(), " cannot"),
            "cv2.error: The function is not implemented. Rebuild the library with Windows, GTK+ 2.x or Cocoa",
            concat(uninstall_command(exam_, {headless->name}), " && ",
                   InstallCommand{{"opencv-python"}}.text(exam_), "   # in notebooks: matplotlib's imshow"));
      });
      if (!said_.empty()) return;
    }
  }

};

}  // namespace

void calls_of_program(const Exam& exam, std::string_view source, Findings& findings) {
  Reader(exam, source, findings).run();
}

}  // namespace plimsoll::doctor

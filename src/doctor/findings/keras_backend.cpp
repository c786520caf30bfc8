// The backend Keras 3 is told to use, and whether it is installed.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "doctor/commands.h"
#include "doctor/exam.h"
#include "doctor/files.h"
#include "doctor/formats/mapped_file.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

struct Choice {
  std::string backend = "tensorflow";  // what Keras takes if nobody says
  std::string from;                    // empty: the default
};

std::filesystem::path settings_file(const System& system) {
  const std::string_view keras_home = system.variable("KERAS_HOME");
  if (!keras_home.empty()) return std::filesystem::path(keras_home) / "keras.json";
  return std::filesystem::path(system.variable("HOME")) / ".keras/keras.json";
}

Choice chosen(const System& system) {
  if (const std::string_view value = system.variable("KERAS_BACKEND"); !value.empty()) {
    return {std::string(value), "KERAS_BACKEND"};
  }
  const std::filesystem::path file = settings_file(system);
  const nlohmann::json j = nlohmann::json::parse(read_text(file, 1u << 16).value_or(""), nullptr, false);
  if (j.is_object() && j.contains("backend") && j["backend"].is_string()) {
    return {j["backend"].get<std::string>(), file.string()};
  }
  return {};
}

bool installed(const Environment& e, const std::string& backend) {
  const char* package = backend == "jax" ? "jax" : backend == "torch" ? "torch" : backend.c_str();
  return backend == "numpy" || !e.locate(package).empty();
}

// Keras checks the other values of keras.json when it is imported, and refuses.
void check_settings_file(const Exam& exam, Findings& findings) {
  const std::filesystem::path file = settings_file(exam.system);
  const nlohmann::json j = nlohmann::json::parse(read_text(file, 1u << 16).value_or(""), nullptr, false);
  if (j.is_discarded()) return;  // not JSON, or not there: Keras takes its defaults
  const auto one_of = [&](const char* key, std::initializer_list<const char*> values) {
    return !j.contains(key) ||
           std::any_of(values.begin(), values.end(), [&](const char* v) { return j[key] == v; });
  };
  std::string wrong;
  if (!j.is_object())
    wrong = "it is no JSON object";
  else if (!one_of("floatx", {"float16", "float32", "float64"}))
    wrong = "floatx is " + j["floatx"].dump();
  else if (!one_of("image_data_format", {"channels_last", "channels_first"}))
    wrong = "image_data_format is " + j["image_data_format"].dump();
  else if (j.contains("epsilon") && !j["epsilon"].is_number_float())
    wrong = "epsilon is " + j["epsilon"].dump();
  if (wrong.empty()) return;
  findings.push_back({"",
                      Severity::error,
                      Sureness::certain,
                      concat("keras.json has a value that Keras refuses: ", wrong),
                      {file.string()},
                      "ValueError or AssertionError at import keras",
                      concat("mv ", shell_word(file), " ", shell_word(file.string() + ".bad"))});
}

}  // namespace

void find_keras_backend(const Exam& exam, Findings& findings) {
  const Environment& e = exam.environment;
  const Distribution* keras = e.find("keras");
  if (keras || e.find("tf-keras")) check_settings_file(exam, findings);
  if (!keras || !keras->version || keras->version->major() < 3) return;
  const Choice choice = chosen(exam.system);
  std::vector<std::string> others;
  for (const char* name : {"tensorflow", "jax", "torch", "plimsoll"}) {
    if (installed(e, name)) others.emplace_back(name);
  }
  const bool known = choice.backend == "tensorflow" || choice.backend == "jax" || choice.backend == "torch" ||
                     choice.backend == "numpy" || choice.backend == "openvino" ||
                     choice.backend == "plimsoll";
  Finding f;
  f.evidence = {choice.from.empty() ? "nobody chose a backend: Keras takes tensorflow"
                                    : concat(choice.from, " says ", choice.backend),
                others.empty() ? "no backend is installed" : "installed: " + some_of(others)};
  const std::string other = others.empty() ? "jax" : others.front();
  if (!known) {
    f.severity = Severity::error;
    f.what = concat("Keras is told to use the backend \"", choice.backend, "\", which it does not know");
    f.leads_to = concat("ValueError: Unable to import backend : ", choice.backend);
    f.fix = set_command(exam, "KERAS_BACKEND", other);
  } else if (installed(e, choice.backend)) {
    return;
  } else {
    // Someone with another backend installed probably sets the variable where it is used.
    f.severity = choice.from.empty() && !others.empty() ? Severity::note : Severity::error;
    f.what = concat("Keras will use the backend ", choice.backend, ", which is not installed");
    f.leads_to = concat("ModuleNotFoundError: No module named '", choice.backend, "' at import keras");
    if (others.empty())
      f.installs = {{choice.backend, "", false}};
    else
      f.fix = set_command(exam, "KERAS_BACKEND", other);
  }
  findings.push_back(f);
}

}  // namespace plimsoll::doctor

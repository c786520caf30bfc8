#include "doctor/model_file.h"

#include <nlohmann/json.hpp>

#include "common/zip_reader.h"
#include "doctor/formats/hdf5_attributes.h"
#include "doctor/formats/hdf5_groups.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr uint64_t kLargestMetadata = 1u << 20, kLargestConfig = 256u << 20, kLargestChecked = 256u << 20;

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// "my_package>MyLayer" is how Keras registers custom classes.
ModelFile::Layer read_layer(const nlohmann::json& node) {
  ModelFile::Layer layer;
  layer.class_name = text_of(node, "class_name");
  const std::string registered = text_of(node, "registered_name");
  const size_t arrow = registered.find('>');
  if (arrow != std::string::npos) layer.package = registered.substr(0, arrow);
  const std::string module = text_of(node, "module");
  if (!module.empty() && !module.starts_with("keras") && !module.starts_with("tf_keras"))
    layer.package = layer.module = module;
  layer.operation = contains(module, ".ops");
  const auto config = node.find("config");
  if (config == node.end() || !config->is_object()) return layer;
  layer.name = text_of(*config, "name");
  for (const auto& [key, value] : config->items()) layer.options.push_back(key);
  if (layer.class_name == "Lambda") {
    const auto function = config->find("function");
    // A list of marshalled code (Keras 2), or a __lambda__ object (Keras 3).
    layer.lambda_code = function != config->end() && !function->is_string() &&
                        (function->is_array() || text_of(*function, "class_name") == "__lambda__");
  }
  return layer;
}

// Layers are nested: a model may hold models, a wrapper holds a layer. No recursion: the depth is theirs.
void collect_layers(const nlohmann::json& config, std::vector<ModelFile::Layer>& out) {
  std::vector<const nlohmann::json*> stack{&config};
  while (!stack.empty()) {
    const nlohmann::json& node = *stack.back();
    stack.pop_back();
    if (node.is_array()) {
      for (const auto& item : node) stack.push_back(&item);
    } else if (node.is_object()) {
      const auto layers = node.find("layers");
      if (layers != node.end() && layers->is_array()) {
        for (const auto& layer : *layers) {
          if (layer.is_object() && layer.contains("class_name")) out.push_back(read_layer(layer));
        }
      }
      for (const auto& [key, value] : node.items()) {
        if (value.is_structured()) stack.push_back(&value);
      }
    }
  }
}

nlohmann::json parse(const std::string& text, const char* what) {
  // A parser's own depth is not bounded; no real config nests further than this.
  int depth = 0;
  const auto limit = [&](int d, nlohmann::json::parse_event_t, nlohmann::json&) {
    depth = std::max(depth, d);
    return d < 500;
  };
  nlohmann::json j = nlohmann::json::parse(text, limit, false);
  if (j.is_discarded() || depth >= 500) fail(ErrorKind::bad_file, "model", what, " is no JSON");
  return j;
}

void set_version(ModelFile& model, std::string text) {
  model.version_text = std::move(text);
  // Old files say "2.2.4-tf" for the Keras inside TensorFlow.
  model.version =
      Version::parse(std::string_view(model.version_text).substr(0, model.version_text.find("-tf")));
}

// Losses, metrics and optimizers that are not Keras's own.
void collect_own_functions(const nlohmann::json& config, std::vector<std::string>& out) {
  std::vector<const nlohmann::json*> stack{&config};
  while (!stack.empty()) {
    const nlohmann::json& node = *stack.back();
    stack.pop_back();
    if (node.is_object() && node.contains("class_name")) {
      const std::string name = text_of(node, "class_name"), module = text_of(node, "module");
      if (name == "function" && !text_of(node, "config").empty())
        out.push_back(text_of(node, "config"));
      else if (node.contains("module") && !module.starts_with("keras") && !module.starts_with("tf_keras") &&
               module != "builtins")
        out.push_back(name);
    }
    if (!node.is_structured()) continue;
    for (const auto& item : node) {
      if (item.is_structured()) stack.push_back(&item);
    }
  }
}

// "loss": "mse", or a list or an object of such names, one for each output.
void collect_short_losses(const nlohmann::json& config, std::vector<std::string>& out) {
  const auto loss = config.find("loss");
  if (loss == config.end()) return;
  const auto add = [&](const nlohmann::json& name) {
    for (const std::string_view known : {"bce", "kld", "mae", "mape", "mse", "msle"}) {
      if (name.is_string() && lower_case(name.get<std::string>()) == known) out.push_back(name);
    }
  };
  add(*loss);
  for (const auto& item : loss->is_structured() ? *loss : nlohmann::json::array()) add(item);
}

// The weights inside an archive: their checksum, where that is quickly had, and their end.
void check_weights(const ZipReader& zip) {
  const ZipReader::Member* const weights = zip.find("model.weights.h5");
  if (weights == nullptr || weights->method != 0) return;
  const FileSource source = weights->size <= kLargestChecked ? zip.open(*weights, kLargestChecked)
                                                             : zip.packed(*weights, weights->size);
  const std::string head = source.text(0, std::min<uint64_t>(source.size(), 4096));
  check_hdf5_end(Bytes(head), source.size());
}

ModelFile read_archive(const FileSource& file) {
  const ZipReader zip(file);
  ModelFile model;
  model.format = ModelFile::Format::keras;
  const ZipReader::Member* const metadata = zip.find("metadata.json");
  const ZipReader::Member* const config = zip.find("config.json");
  for (const ZipReader::Member& member : zip.members()) {
    if (config == nullptr && member.name.ends_with("/config.json"))
      fail(ErrorKind::bad_file, "model",
           "expected config.json at the top of the archive, got it in a folder: ", member.name);
  }
  if (metadata == nullptr || config == nullptr)
    fail(ErrorKind::bad_file, "model",
         "expected metadata.json and config.json in the archive, got one without ",
         config == nullptr ? "config.json" : "metadata.json", ", as other zip files are");
  const nlohmann::json m = parse(zip.read(*metadata, kLargestMetadata), "metadata.json");
  if (m.is_object()) set_version(model, text_of(m, "keras_version"));
  const nlohmann::json whole = parse(zip.read(*config, kLargestConfig), "config.json");
  collect_layers(whole, model.layers);
  if (const auto compiled = whole.find("compile_config"); compiled != whole.end())
    collect_own_functions(*compiled, model.own_functions);
  check_weights(zip);
  return model;
}

ModelFile read_h5(Bytes bytes) {
  Hdf5Root root = read_hdf5_root(bytes);
  check_hdf5_groups(bytes);
  ModelFile model;
  set_version(model, root.text["keras_version"]);
  model.backend = root.text["backend"];
  const auto config = root.text.find("model_config");
  if (config == root.text.end() || config->second.empty()) {
    model.format = ModelFile::Format::weights;
  } else {
    collect_layers(parse(config->second, "model_config"), model.layers);
  }
  if (const auto training = root.text.find("training_config");
      training != root.text.end() && !training->second.empty()) {
    const nlohmann::json compiled = parse(training->second, "training_config");
    if (compiled.is_object()) collect_short_losses(compiled, model.short_losses);
  }
  return model;
}

}  // namespace

ModelFile read_model_file(const std::filesystem::path& path) {
  const FileSource source = FileSource::open(path);
  if (ZipReader::looks_like(source)) return read_archive(source);
  const std::optional<MappedFile> file = MappedFile::open(path);
  if (file && looks_like_hdf5(file->bytes())) return read_h5(file->bytes());
  fail(ErrorKind::bad_file, "model", "neither HDF5 nor a Keras archive");
}

}  // namespace plimsoll::doctor

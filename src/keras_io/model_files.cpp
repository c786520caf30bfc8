// The files of a Model: save, load_model, save_weights, load_weights, to_json, model_from_json.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>
#include <set>

#include "common/files.h"
#include "common/log.h"
#include "common/no_memory.h"
#include "common/zip_reader.h"
#include "common/zip_writer.h"
#include "keras_io/compile_config.h"
#include "keras_io/h5_tree.h"
#include "keras_io/h5_writer.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "keras_io/legacy_weights.h"
#include "keras_io/network_config.h"
#include "keras_io/old_kernels.h"
#include "layers/base/operation.h"
#include "keras_io/upgrade.h"
#include "keras_io/vocabularies.h"
#include "keras_io/weights_file.h"
#include "layers/base/initial_values.h"
#include "memory/line.h"
#include "plimsoll/model.h"
#include "plimsoll/planning.h"
#include "train/model_body.h"
#include "train/optimizers/loss_scale.h"

namespace plimsoll {
namespace {

using namespace keras_io;
namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kMetadata = "metadata.json";
constexpr const char* kWeights = "model.weights.h5";
constexpr uint64_t kMostWeights = uint64_t{1} << 40;

enum class Format { keras, h5, weights, json };

Format format_of(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
  if (ends(".keras")) return Format::keras;
  if (ends(".weights.h5")) return Format::weights;
  if (ends(".h5") || ends(".hdf5")) return Format::h5;
  if (ends(".json")) return Format::json;
  fail(ErrorKind::invalid_argument, name, "expected a name that ends in .keras, .h5, .weights.h5 or .json");
}

const OptimizerState* optimizer_of(const ModelBody& body) {
  return body.trainer.compiled() ? &body.trainer.optimizer() : nullptr;
}

// Compiles the model as the file says. A loss that the file names and we do not know (the writer's own)
// leaves the model without: it predicts, and fit() asks for compile(). `scales_loss`: by its state, there was
// a LossScaleOptimizer around the optimizer, which compile() puts there and the config does not say.
bool compile_as_saved(const Json& config, ModelBody& body, const std::string& place, bool scales_loss) {
  if (!find(config, "optimizer")) return false;
  try {
    CompileArgs args = compile_args_from_json(config, place);
    if (scales_loss) args.optimizer = with_loss_scale(args.optimizer);
    body.trainer.compile(args);
    return true;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::bad_file || e.kind() == ErrorKind::out_of_memory) throw;
    warn(place,
         "the model is loaded without the optimizer, loss and metrics that it was compiled with: ", e.what(),
         ". It predicts; to train or evaluate it, call compile()");
    return false;
  }
}

enum class Values { initial, from_file };

// No version: the file is older than that attribute.
bool is_keras3(const std::string* version) { return version && parse_keras_version(*version)[0] >= 3; }

Layer network_of(Json config, const std::string& place, bool keras3, Values values = Values::initial) {
  std::optional<WithoutInitialValues> without;
  if (values == Values::from_file) without.emplace();
  if (!keras3) keep_old_meanings(config);
  upgrade_model(config);
  return network_from_json(config, place);
}

void check_built(const Layer& network, const std::string& place) {
  if (static_cast<const Network&>(*network).inputs().empty()) {
    fail(ErrorKind::unsupported, place,
         "does not say the shape of its input; call the model once in Python and save it again");
  }
}

void load_optimizer(const H5File& file, const std::string& place, ModelBody& body, NewValues& values) {
  OptimizerState& optimizer = body.trainer.optimizer();
  std::string why_not;
  if (const H5Group* state = file.root().group("optimizer/vars")) {
    why_not = read_optimizer(file, *state, body.network, optimizer, values);
  } else if (const H5Group* legacy = file.root().group("optimizer_weights")) {
    why_not = read_legacy_optimizer(file, *legacy, body.net(), optimizer, values);
  }
  if (why_not.empty()) return;
  warn(place, "the state of the optimizer is left out, it does not fit ", optimizer.optimizer()->class_name(),
       ": ", why_not, ". Training starts with a fresh optimizer; the weights are the file's");
}

void load_state(const H5File& file, const Json& compile_config, const std::string& place, Model& model) {
  const bool scales_loss = file.root().group("optimizer/inner_optimizer/vars") != nullptr;
  if (!compile_as_saved(compile_config, model.body(), place, scales_loss) || Outline::active()) return;
  NewValues values(Write::at_once);
  load_optimizer(file, place, model.body(), values);
}

const ZipReader::Member& member(const ZipReader& zip, const char* name, const std::string& place) {
  const ZipReader::Member* found = zip.find(name);
  if (!found)
    fail(ErrorKind::bad_file, place, "expected a .keras file, which has a member ", std::string_view(name));
  return *found;
}

Model load_keras(const FileSource& source) {
  const ZipReader zip(source);
  const std::string place = concat(source.name(), ": ", kConfig);
  Json config = parse_json(zip.read(member(zip, kConfig, source.name()), kMostJson), place);
  Json compile_config;
  if (config.is_object() && config.contains("compile_config"))
    compile_config = std::move(config["compile_config"]);
  const ZipReader::Member& packed = member(zip, kWeights, source.name());
  std::optional<H5File> weights;
  if (!Outline::active()) weights = H5File::read(zip.open(packed, kMostWeights));
  const Json metadata = parse_json(zip.read(member(zip, kMetadata, source.name()), kMostJson), source.name());
  const std::string version = text_of(metadata, "keras_version");
  add_vocabularies(config, zip);
  // The config is gone before the weights come: the two never weigh on memory together.
  Model model(network_of(std::move(config), place, is_keras3(&version), Values::from_file));
  check_built(model.network(), place);
  upgrade_compile_config(compile_config);
  if (!weights) {
    compile_as_saved(compile_config, model.body(), source.name(), false);
    return model;
  }
  NewValues values(Write::at_once);
  read_weights(*weights, model.network(), values);
  load_state(*weights, compile_config, source.name(), model);
  return model;
}

// Keras 1 and 2 write their version into the JSON of a model, Keras 3 does not.
Model from_json(std::string_view text, const std::string& place) {
  Json config = parse_json(text, place);
  const bool keras3 = text_of(config, "keras_version").empty();
  return Model(network_of(std::move(config), place, keras3));
}

Model load_h5(const FileSource& source) {
  const H5File file = H5File::read(source);
  const std::string* text = file.root().text("model_config");
  const H5Group* weights = file.root().group("model_weights");
  if (!text || !weights) {
    fail(ErrorKind::bad_file, source.name(),
         "holds weights but no model: build the model first, then call load_weights() with this file");
  }
  const bool keras3 = is_keras3(file.root().text("keras_version"));
  Model model(network_of(parse_json(*text, concat(source.name(), ": model_config")), source.name(), keras3,
                         Values::from_file));
  check_built(model.network(), source.name());
  if (!Outline::active()) {
    NewValues values(Write::at_once);
    read_legacy_weights(file, *weights, model.body().net(), values);
  }
  if (const std::string* training = file.root().text("training_config")) {
    const Json config = parse_json(*training, concat(source.name(), ": training_config"));
    const size_t outputs = model.body().net().outputs().size();
    load_state(file, upgrade_training_config(config, keras3 ? 1 : outputs), source.name(), model);
  }
  return model;
}

std::string now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::localtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d@%H:%M:%S", &parts);
  return text;
}

// A file beside another, gone when this is.
class Beside {
 public:
  explicit Beside(const fs::path& path) : path_(path.string() + ".weights") {}
  ~Beside() { std::remove(path_.c_str()); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_keras(NewFile& file, const ModelBody& body) {
  Json config = network_to_json(body.network);
  if (body.trainer.compiled()) config["compile_config"] = compile_args_to_json(body.trainer.args());
  const Json metadata = {{"keras_version", kKerasVersion}, {"date_saved", now()}, {"written_by", "plimsoll"}};
  const Beside beside(file.path());
  H5Writer weights(beside.path());
  write_weights(weights, body.network, optimizer_of(body));
  weights.close();
  ZipWriter zip(file);
  zip.add(kMetadata, to_text(metadata));
  zip.add(kConfig, to_text(config));
  zip.add(kWeights, FileSource::open(beside.path()));
  zip.finish();
}

// The form of layers in .h5 files: without module and registered_name. Objects inside keep theirs.
void drop_modules(Json& layer) {
  if (!is_operation(layer)) {
    for (const char* key : {"module", "registered_name", "build_config"}) layer.erase(key);
  }
  Json* config = layer.contains("config") ? &layer["config"] : nullptr;
  if (!config || !config->is_object()) return;
  if (config->contains("layers")) {
    for (Json& inner : (*config)["layers"]) drop_modules(inner);
  }
}

void write_h5(NewFile& file, const ModelBody& body) {
  Json config = network_to_json(body.network);
  drop_modules(config);
  H5Writer h5(file.path());
  h5.attribute("", "keras_version", std::string_view(kKerasVersion));
  h5.attribute("", "backend", std::string_view("tensorflow"));
  h5.attribute("", "model_config", to_text(config));
  if (body.trainer.compiled()) {
    Json training = compile_args_to_json(body.trainer.args());
    training["optimizer_config"] = Json(training["optimizer"]);
    for (const char* key : {"optimizer", "run_eagerly", "steps_per_execution", "jit_compile"})
      training.erase(key);
    h5.attribute("", "training_config", to_text(training));
  }
  write_legacy_weights(h5, "model_weights", body.net());
  if (const OptimizerState* optimizer = optimizer_of(body))
    write_legacy_optimizer(h5, "optimizer_weights", *optimizer);
  h5.close();
}

// Under the line of the process what the last step ran in goes first: to write a file takes memory too.
void make_room(Trainer& trainer, bool fitting) {
  if (!line::drawn() || fitting || trainer.device()) return;
  try {
    trainer.set_plan({.arena_line = 0});
    trainer.set_plan({});
  } catch (const Error&) {
    // Another thread uses the model.
  }
}

// What save_weights(max_shard_size=...) writes: a list of files beside it, each with some of the weights.
void load_shards(const FileSource& list, const fs::path& path, Model& model) {
  const Json json = parse_json(list.text(0, std::min<uint64_t>(list.size(), kMostJson)), list.name());
  const Json* map = find(json, "weight_map");
  if (!map || !map->is_object()) fail(ErrorKind::bad_file, list.name(), "expected a 'weight_map'");
  std::set<std::string> names;
  for (const auto& [place, files] : map->items()) {
    for (const Json& file : files.is_array() ? files : Json::array({files})) {
      if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>())
        fail(ErrorKind::bad_file, list.name(), "expected names of files beside it in its 'weight_map'");
      names.insert(file.get<std::string>());
    }
  }
  std::vector<H5File> shards;
  for (const std::string& name : names)
    shards.push_back(H5File::read(FileSource::open(path.parent_path() / name)));
  if (shards.empty()) fail(ErrorKind::bad_file, list.name(), "lists no files");
  NewValues values(Write::together);
  read_weights(shards, model.network(), values);
  values.commit();
}

}  // namespace

Model load_model(const fs::path& path) try {
  const FileSource source = FileSource::open(path);
  if (ZipReader::looks_like(source)) return load_keras(source);
  if (H5File::looks_like(source)) return load_h5(source);
  const std::string start = source.text(0, std::min<uint64_t>(source.size(), 64));
  if (start.find_first_not_of(" \t\r\n") != std::string::npos &&
      start[start.find_first_not_of(" \t\r\n")] == '{' && source.size() <= kMostJson) {
    return from_json(source.text(0, source.size()), source.name());
  }
  fail(ErrorKind::bad_file, source.name(),
       "expected a .keras, .h5 or JSON file of Keras, got something else");
} catch (const Json::exception& e) {  // a value of a kind that no Keras writes there
  fail(ErrorKind::bad_file, path.string(), e.what());
} catch (const std::bad_alloc&) {
  no_memory(path.string());
}

Model model_from_json(std::string_view json) try {
  return from_json(json, "model_from_json");
} catch (const Json::exception& e) {
  fail(ErrorKind::bad_file, "model_from_json", e.what());
} catch (const std::bad_alloc&) {
  no_memory("model_from_json");
}

std::string Model::to_json() const try {
  return to_text(network_to_json(network()));
} catch (const std::bad_alloc&) {
  no_memory("to_json");
}

void Model::save(const fs::path& path) const try {
  const Format format = format_of(path);
  if (format == Format::weights) return save_weights(path);
  make_room(body().trainer, body().fitting);
  write_atomically(path, [&](NewFile& file) {
    if (format == Format::keras) return write_keras(file, body());
    if (format == Format::h5) return write_h5(file, body());
    const std::string json = to_json();
    file.write(json.data(), json.size());
  });
} catch (const std::bad_alloc&) {
  no_memory(path.string());
}

void Model::save_weights(const fs::path& path) const try {
  require(format_of(path) == Format::weights, path.string(), "expected a name that ends in .weights.h5");
  make_room(body().trainer, body().fitting);
  write_atomically(path, [&](NewFile& file) {
    H5Writer h5(file.path());
    write_weights(h5, network(), optimizer_of(body()));
    h5.close();
  });
} catch (const std::bad_alloc&) {
  no_memory(path.string());
}

void Model::load_weights(const fs::path& path) try {
  (void)body();  // no model: said before anything is opened
  FileSource source = FileSource::open(path);
  if (path.filename().string().ends_with(".weights.json")) return load_shards(source, path, *this);
  if (ZipReader::looks_like(source)) {
    const ZipReader zip(source);
    source = zip.open(member(zip, kWeights, source.name()), kMostWeights);
  }
  const H5File file = H5File::read(source);
  const H5Group* legacy = file.root().group("model_weights");
  if (!legacy && is_legacy_weights(file.root())) legacy = &file.root();
  if (!legacy && !is_keras3_weights(file.root()))
    fail(ErrorKind::bad_file, source.name(), "holds no weights of Keras");
  NewValues values(Write::together);
  if (legacy) {
    read_legacy_weights(file, *legacy, body().net(), values);
  } else {
    read_weights(file, network(), values);
    if (body().trainer.compiled()) load_optimizer(file, source.name(), body(), values);
  }
  values.commit();
} catch (const std::bad_alloc&) {
  no_memory(path.string());
}

}  // namespace plimsoll

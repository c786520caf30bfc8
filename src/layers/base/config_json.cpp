#include "layers/base/config_json.h"

#include <algorithm>
#include <cmath>
#include "common/json.h"
#include "common/names.h"
#include <set>

#include "layers/base/plain_activation.h"
#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/losses.h"
#include "plimsoll/metrics.h"
#include "plimsoll/optimizers.h"

namespace plimsoll {
namespace {

using Json = ConfigJson;

// The longest value shown in a message.
constexpr size_t kShown = 60;

std::string shown(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return concat(value.get<double>());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text.replace(kShown, std::string::npos, "...");
  return text;
}

// Empty if it is not there or no text.
std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string_view module_of(Family family) {
  constexpr std::string_view kModules[] = {
      "keras.layers",   "keras.initializers", "keras.regularizers", "keras.constraints",
      "keras.losses",   "keras.metrics",      "keras.optimizers",   "keras.optimizers.schedules",
      "keras.callbacks"};
  return kModules[static_cast<size_t>(family)];
}

Family family_of(const Configurable& object) {
  if (dynamic_cast<const LayerBase*>(&object) != nullptr) return Family::layer;
  if (dynamic_cast<const InitializerBase*>(&object) != nullptr) return Family::initializer;
  if (dynamic_cast<const RegularizerBase*>(&object) != nullptr) return Family::regularizer;
  if (dynamic_cast<const ConstraintBase*>(&object) != nullptr) return Family::constraint;
  if (dynamic_cast<const LossBase*>(&object) != nullptr) return Family::loss;
  if (dynamic_cast<const MetricBase*>(&object) != nullptr) return Family::metric;
  if (dynamic_cast<const OptimizerBase*>(&object) != nullptr) return Family::optimizer;
  if (dynamic_cast<const ScheduleBase*>(&object) != nullptr) return Family::schedule;
  fail(ErrorKind::internal, object.class_name(), "belongs to no family of objects that have configs");
}

// The hard_sigmoid of Keras 1 and 2, 0.2 x + 0.5, is in files what Keras 3 can read: its own, of 1.2 x.
constexpr const char* kOldHardSigmoid = "hard_sigmoid_keras2";
Json old_hard_sigmoid() {
  const auto layer = [](std::string_view class_name, Json config) {
    return Json{{"module", "keras.layers"},
                {"class_name", class_name},
                {"config", std::move(config)},
                {"registered_name", nullptr}};
  };
  const Json parts =
      Json::array({layer("Rescaling", {{"name", "times_1_2"}, {"scale", 1.2}, {"offset", 0.0}}),
                   layer("Activation", {{"name", "hard_sigmoid"}, {"activation", "hard_sigmoid"}})});
  return layer("Pipeline", {{"name", kOldHardSigmoid}, {"layers", parts}});
}
bool is_old_hard_sigmoid(const Json& j) {
  const auto config_of = [](const Json& layer) {
    return layer.is_object() ? layer.value("config", Json()) : Json();
  };
  const Json config = config_of(j);
  if (!config.is_object() || text_of(config, "name") != kOldHardSigmoid || !config.contains("layers"))
    return false;
  const Json& parts = config["layers"];
  if (!parts.is_array() || parts.size() != 2) return false;
  const Json first = config_of(parts[0]), second = config_of(parts[1]);
  return first.is_object() && second.is_object() && first.value("scale", Json()) == 1.2 &&
         first.value("offset", Json()) == 0.0 && text_of(second, "activation") == "hard_sigmoid";
}

[[noreturn]] void refuse_quantized(const std::string& place, std::string_view mode) {
  fail(ErrorKind::unsupported, place, "is quantized (", mode,
       "), which is not here: save the model in Python as it was before model.quantize()");
}

class Reader final : public Fields {
 public:
  Reader(std::string place, const Json& config, const ConfigHooks& hooks)
      : place_(std::move(place)), config_(config), hooks_(hooks) {}

  void operator()(std::string_view name, bool& value) override {
    if (const Json* j = find(name)) value = boolean(name, *j);
  }
  void operator()(std::string_view name, int64_t& value) override {
    if (const Json* j = find(name)) value = integer(name, *j);
  }
  void operator()(std::string_view name, double& value) override {
    if (const Json* j = find(name)) value = real(name, *j);
  }
  void operator()(std::string_view name, std::string& value) override {
    const Json* j = find(name);
    if (j == nullptr) return;
    const bool activation = name.ends_with("activation");
    if (activation && is_old_hard_sigmoid(*j))
      value = kOldHardSigmoid;
    else if (activation && is_layer(*j))
      value = object_to_json(*object_from_json(Family::layer, *j, hooks_), hooks_).dump();
    else if (!j->is_null())
      value = string(name, *j);
    else if (activation)
      value = "linear";  // what None is to Keras; of other arguments it is the default
  }
  void operator()(std::string_view name, Ints& value) override {
    if (const Json* j = find(name)) value = integers(name, *j);
  }
  void operator()(std::string_view name, std::vector<double>& value) override {
    const Json* j = find(name);
    if (j == nullptr) return;
    value.clear();
    collect_reals(name, array_of(*j), value);
  }
  void operator()(std::string_view name, std::vector<Ints>& value) override {
    const Json* j = find(name);
    if (j == nullptr) return;
    value.clear();
    if (!j->is_array()) value = {integers(name, *j)};
    for (const Json& part : j->is_array() ? *j : Json::array()) value.push_back(integers(name, part));
  }
  void operator()(std::string_view name, std::optional<bool>& value) override {
    if (const Json* j = find(name)) value = j->is_null() ? std::optional<bool>() : boolean(name, *j);
  }
  void operator()(std::string_view name, std::optional<int64_t>& value) override {
    if (const Json* j = find(name)) value = j->is_null() ? std::optional<int64_t>() : integer(name, *j);
  }
  void operator()(std::string_view name, std::optional<double>& value) override {
    if (const Json* j = find(name)) value = j->is_null() ? std::optional<double>() : real(name, *j);
  }
  void operator()(std::string_view name, std::optional<std::string>& value) override {
    if (const Json* j = find(name)) value = j->is_null() ? std::optional<std::string>() : string(name, *j);
  }
  void operator()(std::string_view name, std::vector<Layer>& value) override {
    const Json* j = find(name);
    if (j == nullptr) return;
    if (!j->is_array()) wrong(name, "a list of layers", *j);
    value.clear();
    for (const Json& part : *j) {
      value.emplace_back(std::static_pointer_cast<LayerBase>(object_from_json(Family::layer, part, hooks_)));
    }
  }
  void operator()(std::string_view name, std::vector<std::string>& value) override {
    const Json* j = find(name);
    if (j == nullptr) return;
    value.clear();
    if (j->is_null()) return;
    if (!j->is_array()) wrong(name, "a list of names", *j);
    for (const Json& part : *j) value.push_back(string(name, part));
  }
  using Fields::operator();
  void refused(std::string_view name) override {
    const Json* j = find(name);
    if (j == nullptr || j->is_null()) return;
    const Json* policy = name == "quantization_config" ? find("dtype") : nullptr;
    if (policy != nullptr && policy->is_object() && policy->contains("config") &&
        (*policy)["config"].is_object())
      refuse_quantized(place_, text_of((*policy)["config"], "mode"));
    fail(ErrorKind::unsupported, place_, "the argument '", name, "' is not supported");
  }
  bool reading() const override { return true; }
  bool has_object(std::string_view name) const override {
    const auto found = config_.find(std::string(name));
    return found != config_.end() && found->is_object();
  }
  bool has_list(std::string_view name) const override {
    const auto found = config_.find(std::string(name));
    return found != config_.end() && array_of(*found).is_array();
  }

  // Throws for an argument that Keras gives no default and the config does not have.
  void check_required(const Configurable& object) const {
    for (const std::string& name : required_arguments(family_of(object), object.class_name())) {
      const auto found = config_.find(name);
      if (found != config_.end() && !found->is_null()) continue;
      std::string given;
      for (const auto& [key, value] : config_.items()) given += concat(given.empty() ? "'" : ", '", key, "'");
      fail(ErrorKind::invalid_argument, place_, "expected the argument '", name,
           "', which has no default, got ", given.empty() ? "none" : given);
    }
  }
  // Throws for a key that nobody asked for.
  void finish() const {
    for (const auto& [key, value] : config_.items()) {
      if (asked_.count(key) == 0) {
        fail(ErrorKind::unsupported, place_, "does not know the argument '", key, "' (given as ",
             shown(value), "); there are: ", nearest_first(key, {asked_.begin(), asked_.end()}));
      }
    }
  }
  const Json* find(std::string_view name) {
    const auto [at, added] = asked_.emplace(name);
    const auto found = config_.find(*at);
    return found == config_.end() ? nullptr : &*found;
  }
  bool asked(std::string_view name) const { return asked_.count(std::string(name)) != 0; }

 protected:
  void object(std::string_view name, Family family, std::shared_ptr<Configurable>& value) override {
    if (const Json* j = find(name)) value = object_from_json(family, *j, hooks_);
  }

 private:
  [[noreturn]] void wrong(std::string_view name, std::string_view expected, const Json& got) const {
    fail(ErrorKind::invalid_argument, place_, "expected ", expected, " for '", name, "', got ", shown(got));
  }
  static bool is_layer(const Json& j) {
    if (!j.is_object() || !j.contains("config") || !j["config"].is_object()) return false;
    const std::vector<std::string> layers = object_names(Family::layer);
    return std::find(layers.begin(), layers.end(), text_of(j, "class_name")) != layers.end();
  }
  bool boolean(std::string_view name, const Json& j) const {
    if (!j.is_boolean()) wrong(name, "true or false", j);
    return j.get<bool>();
  }
  int64_t integer(std::string_view name, const Json& j) const {
    constexpr double kMost = 9e15;  // doubles count without gaps up to here
    const bool too_large = j.is_number_unsigned() && j.get<uint64_t>() > uint64_t{INT64_MAX};
    if (j.is_number_integer() && !too_large) return j.get<int64_t>();
    if (j.is_number_float()) {
      const double value = j.get<double>();
      if (std::floor(value) == value && std::fabs(value) < kMost) return static_cast<int64_t>(value);
    }
    wrong(name, "an integer", j);
  }
  double real(std::string_view name, const Json& j) const {
    if (!j.is_number()) wrong(name, "a number", j);
    return j.get<double>();
  }
  std::string string(std::string_view name, const Json& j) const {
    if (j.is_string()) return j.get<std::string>();
    // Keras writes a function it cannot name by a word as an object with that name.
    if (j.is_object() && text_of(j, "class_name") == "function" && j.contains("config") &&
        j["config"].is_string()) {
      return j["config"].get<std::string>();
    }
    wrong(name, "a name", j);
  }
  Ints integers(std::string_view name, const Json& j) const {
    Ints list;
    if (j.is_null()) return list;
    if (!j.is_array()) return {integer(name, j)};
    for (const Json& part : j) list.push_back(part.is_null() ? -1 : integer(name, part));
    return list;
  }
  // An array written by itself, or as Keras wraps NumPy's and tensors.
  static const Json& array_of(const Json& j) {
    const bool wrapped =
        j.is_object() && j.contains("config") && j["config"].is_object() && j["config"].contains("value");
    return wrapped ? j["config"]["value"] : j;
  }
  void collect_reals(std::string_view name, const Json& j, std::vector<double>& out) const {
    if (j.is_null()) return;
    if (!j.is_array()) return out.push_back(real(name, j));
    for (const Json& part : j) collect_reals(name, part, out);
  }

  std::string place_;
  const Json& config_;
  const ConfigHooks& hooks_;
  std::set<std::string> asked_;
};

class Writer final : public Fields {
 public:
  Writer(const Configurable& object, const ConfigHooks& hooks)
      : required_(required_arguments(family_of(object), object.class_name())), hooks_(hooks) {}
  void operator()(std::string_view name, bool& value) override { set(name, value); }
  void operator()(std::string_view name, int64_t& value) override { set(name, value); }
  void operator()(std::string_view name, double& value) override { set(name, value); }
  void operator()(std::string_view name, std::string& value) override {
    if (name.ends_with("activation") && value == kOldHardSigmoid) return set(name, old_hard_sigmoid());
    set(name, name.ends_with("activation") && is_activation_layer(value) ? Json::parse(value) : Json(value));
  }
  void operator()(std::string_view name, Ints& value) override {
    // None, unless Keras has no default to fall back to: Reshape(()).
    const bool needed = std::find(required_.begin(), required_.end(), name) != required_.end();
    Json list = value.empty() && !needed ? Json() : Json(value);
    // Sizes that follow from the input are None in Python.
    if (name == "output_shape" || name == "noise_shape") {
      for (Json& size : list) {
        if (size < 0) size = nullptr;
      }
    }
    set(name, std::move(list));
  }
  void operator()(std::string_view name, std::vector<double>& value) override {
    set(name, value.empty() ? Json() : value.size() == 1 ? Json(value[0]) : Json(value));
  }
  void operator()(std::string_view name, std::vector<Ints>& value) override { set(name, value); }
  void operator()(std::string_view name, std::optional<bool>& value) override { set_optional(name, value); }
  void operator()(std::string_view name, std::optional<int64_t>& value) override {
    set_optional(name, value);
  }
  void operator()(std::string_view name, std::optional<double>& value) override { set_optional(name, value); }
  void operator()(std::string_view name, std::optional<std::string>& value) override {
    set_optional(name, value);
  }
  void operator()(std::string_view name, std::vector<Layer>& value) override {
    Json list = Json::array();
    for (const Layer& layer : value) list.push_back(object_to_json(*layer, hooks_));
    set(name, std::move(list));
  }
  void operator()(std::string_view name, std::vector<std::string>& value) override { set(name, value); }
  using Fields::operator();
  void refused(std::string_view name) override { set(name, Json()); }
  bool reading() const override { return false; }
  Json config = Json::object();

 protected:
  void object(std::string_view name, Family, std::shared_ptr<Configurable>& value) override {
    set(name, value == nullptr ? Json() : object_to_json(*value, hooks_));
  }

 private:
  void set(std::string_view name, Json value) { config[std::string(name)] = std::move(value); }
  template <class T>
  void set_optional(std::string_view name, const std::optional<T>& value) {
    set(name, value ? Json(*value) : Json());
  }
  std::vector<std::string> required_;
  const ConfigHooks& hooks_;
};

Json keras_object(std::string_view module, std::string_view class_name, Json config) {
  return {{"module", module},
          {"class_name", class_name},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

std::string policy_from_json(const std::string& place, const Json& j) {
  if (j.is_null()) return {};
  if (j.is_string()) {
    if (const std::string name = j.get<std::string>(); name.find("_from_") != std::string::npos)
      refuse_quantized(place, name);
    return j.get<std::string>();
  }
  if (j.is_object() && j.contains("config") && j["config"].is_object() && j["config"].contains("mode"))
    refuse_quantized(place, text_of(j["config"], "mode"));
  if (j.is_object() && text_of(j, "class_name") == "DTypePolicy" && j.contains("config") &&
      j["config"].is_object()) {
    if (std::string name = text_of(j["config"], "name"); !name.empty()) return name;
  }
  fail(ErrorKind::unsupported, place,
       "expected a dtype policy such as \"float32\" or \"mixed_bfloat16\", got ", shown(j));
}

// The arguments that every layer has. trainable comes before the class's own fields: layers inside have their
// own.
void read_layer_head(LayerBase& layer, Reader& reader) {
  std::string name = layer.name();
  reader("name", name);
  layer.set_name(name.empty() ? unique_layer_name(layer.class_name()) : name);
  bool trainable = true;
  reader("trainable", trainable);
  layer.set_trainable(trainable);
  if (const Json* dtype = reader.find("dtype")) {
    const std::string policy = policy_from_json(layer.name(), *dtype);
    if (!policy.empty()) layer.set_dtype_policy(policy);
  }
}

Json layer_head(const LayerBase& layer) {
  if (layer.class_name() == "Pipeline") return {{"name", layer.name()}};  // all that Keras's class takes
  const std::string& own = layer.dtype_policy();
  const std::string& policy = own.empty() ? global_dtype_policy() : own;
  if (!layer.takes_trainable()) return {{"name", layer.name()}, {"dtype", policy}};
  return {{"name", layer.name()},
          {"trainable", layer.trainable()},
          {"dtype", keras_object("keras", "DTypePolicy", {{"name", policy}})}};
}

}  // namespace

Json config_to_json(Configurable& object, const ConfigHooks& hooks) {
  Writer writer(object, hooks);
  object.fields(writer);
  const auto* layer = dynamic_cast<const LayerBase*>(&object);
  if (layer == nullptr) return std::move(writer.config);
  Json config = layer_head(*layer);
  if (layer->activity_regularizer() && !writer.config.contains("activity_regularizer")) {
    config["activity_regularizer"] = object_to_json(*layer->activity_regularizer(), hooks);
  }
  for (const auto& [key, value] : writer.config.items()) config[key] = value;
  return config;
}

Json object_to_json(Configurable& object, const ConfigHooks& hooks) {
  if (hooks.write) {
    if (Json json = hooks.write(object); !json.is_null()) return json;
  }
  const Family family = family_of(object);
  Json json = keras_object(module_of(family), object.class_name(), config_to_json(object, hooks));
  // Two layers of keras.applications are not public in Keras.
  if (object.class_name() == "LayerScale" || object.class_name() == "StochasticDepth") {
    json["module"] = "keras.src.applications.convnext";
    json["registered_name"] = object.class_name();
  }
  if (!is_builtin(family, object.class_name())) {
    json["module"] = nullptr;
    json["registered_name"] = concat("Custom>", object.class_name());
  }
  return json;
}

void config_from_json(Configurable& object, const Json& config, const ConfigHooks& hooks) {
  require(config.is_object(), object.class_name(), "expected a config {...}, got ", shown(config));
  auto* layer = dynamic_cast<LayerBase*>(&object);
  const auto given = config.find("name");
  const bool named = layer != nullptr && given != config.end() && given->is_string();
  Reader reader(named ? concat(object.class_name(), " '", given->get<std::string>(), "'")
                      : std::string(object.class_name()),
                config, hooks);
  reader.check_required(object);
  if (layer != nullptr) read_layer_head(*layer, reader);
  object.fields(reader);
  if (layer != nullptr && !reader.asked("activity_regularizer")) {
    Regularizer r = layer->activity_regularizer();
    reader("activity_regularizer", r);
    layer->set_activity_regularizer(std::move(r));
  }
  reader.finish();
}

std::shared_ptr<Configurable> object_from_json(Family family, const Json& json, const ConfigHooks& hooks) {
  if (json.is_null()) return nullptr;
  if (hooks.read) {
    if (std::shared_ptr<Configurable> object = hooks.read(family, json)) return object;
  }
  require(
      json.is_string() || (json.is_object() && json.contains("class_name") && json["class_name"].is_string()),
      name_of(family), "expected a name or {\"class_name\": ..., \"config\": ...}, got ", shown(json));
  const Json& name = json.is_string() ? json : json["class_name"];
  std::shared_ptr<Configurable> object = make_object(family, name.get_ref<const std::string&>());
  const auto config = json.is_object() ? json.find("config") : json.end();
  const bool given = json.is_object() && config != json.end() && !config->is_null();
  config_from_json(*object, given ? *config : Json::object(), hooks);
  return object;
}

}  // namespace plimsoll

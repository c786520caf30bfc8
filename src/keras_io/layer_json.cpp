#include "keras_io/layer_json.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "keras_io/network_config.h"
#include "layers/base/operation.h"
#include "layers/base/functional.h"
#include "layers/base/input_layer.h"

namespace plimsoll::keras_io {
namespace {

// Layers of Keras's that are not among keras.layers.
constexpr std::pair<std::string_view, std::string_view> kApplicationLayers[] = {
    {"LayerScale", "keras.src.applications.convnext"},
    {"StochasticDepth", "keras.src.applications.convnext"},
    {"CustomScaleLayer", "keras.src.applications.inception_resnet_v2"},
};

std::shared_ptr<InputLayer> input_from_json(const Json& json) {
  const Json& config = get(json, "config", "InputLayer");
  const std::string name = text_of(config, "name");
  auto layer = std::make_shared<InputLayer>();
  for (const Json& size : get_array(config, "batch_shape", name)) {
    if (!size.is_null() && (!size.is_number_integer() || size.get<int64_t>() < 0)) {
      fail(ErrorKind::bad_file, name, "expected sizes in 'batch_shape'");
    }
    layer->batch_shape.push_back(size.is_null() ? -1 : size.get<int64_t>());
  }
  if (layer->batch_shape.empty() || layer->batch_shape.size() > Shape::kMaxRank) {
    fail(ErrorKind::unsupported, name, "an input of ", layer->batch_shape.size(), " axes");
  }
  for (const char* kind : {"sparse", "ragged", "optional"}) {
    const Json* given = find(config, kind);
    if (given && given->is_boolean() && given->get<bool>()) {
      fail(ErrorKind::unsupported, name, "inputs that are ", std::string_view(kind), " are not supported");
    }
  }
  if (const std::string dtype = text_of(config, "dtype"); !dtype.empty()) {
    const std::optional<DType> known = dtype_from_name(dtype);
    if (dtype == "string") {
      fail(ErrorKind::unsupported, name,
           "takes strings, and there are no tensors of strings here: save in Python a model that begins behind the "
           "layer that reads them (TextVectorization, StringLookup, Hashing), and give it that layer's numbers");
    }
    if (!known) fail(ErrorKind::unsupported, name, "inputs of type ", dtype, " are not supported");
    layer->dtype = *known;
  }
  layer->set_name(name.empty() ? unique_layer_name("InputLayer") : name);
  return layer;
}

Json input_to_json(const InputLayer& layer) {
  Json config = {{"batch_shape", shape_to_json(layer.batch_shape)},
                 {"dtype", name_of(layer.dtype)},
                 {"sparse", false},
                 {"ragged", false},
                 {"name", layer.name()},
                 {"optional", false}};
  return {{"module", "keras.layers"},
          {"class_name", "InputLayer"},
          {"config", config},
          {"registered_name", nullptr}};
}

std::string name_in(const Json& json) {
  const Json* config = find(json, "config");
  const std::string name = config ? text_of(*config, "name") : std::string();
  return name.empty() ? text_of(json, "name") : name;
}

// What a file may name that we have no layer for: say what can be done.
std::shared_ptr<LayerBase> make_of_class(const Json& json) {
  const std::string class_name = text_of(json, "class_name");
  if (class_name.empty()) fail(ErrorKind::bad_file, name_in(json), "expected the 'class_name' of a layer");
  try {
    return std::static_pointer_cast<LayerBase>(make_object(Family::layer, class_name));
  } catch (const Error&) {
    if (const std::string_view reason = refusal(Family::layer, class_name); !reason.empty()) {
      fail(ErrorKind::unsupported, name_in(json), "is a ", class_name, ": ", reason,
           ". Replace it in Python by other layers or keras.ops, register a C++ layer called '", class_name,
           "' (register_class), or cut the model at the layer before it");
    }
    fail(ErrorKind::unsupported, name_in(json), "is of the class ", class_name,
         ", which is not known. Register a C++ layer of that name (register_class), or cut the model "
         "at the layer before it");
  }
}

// Keras saves the sum of a weight and its low-rank change as the weight, and adds zeros after reading it.
void leave_out_lora(Json& config) {
  const Json* rank = find(config, "lora_rank");
  if (rank && !rank->is_null()) {
    warn(text_of(config, "name"), "has lora_rank=", rank->dump(), ": predictions are the same, training will "
         "change the whole weight instead of a low-rank change of it");
  }
  if (!config.is_object()) return;
  config.erase("lora_rank");
  config.erase("lora_alpha");
}

}  // namespace

Json shape_to_json(const SymbolShape& shape) {
  Json list = Json::array();
  for (const int64_t n : shape) list.push_back(n < 0 ? Json() : Json(n));
  return list;
}

bool is_network(const Json& json) {
  const std::string class_name = text_of(json, "class_name");
  if (class_name == "Sequential" || class_name == "Functional" || class_name == "Model") return true;
  const Json* config = find(json, "config");
  return config && find(*config, "layers") && find(*config, "output_layers");  // a subclass of Model
}

const ConfigHooks& network_hooks() {
  static const ConfigHooks hooks{
      .read = [](Family family, const Json& json) -> std::shared_ptr<Configurable> {
        if (family != Family::layer || !json.is_object()) return nullptr;
        return layer_from_json(json).pointer();
      },
      .write = [](Configurable& object) -> Json {
        if (const auto* input = dynamic_cast<const InputLayer*>(&object)) return input_to_json(*input);
        if (const auto* operation = dynamic_cast<const Operation*>(&object)) return operation->to_json();
        if (auto* network = dynamic_cast<Network*>(&object))
          return network_to_json(Layer(network->shared_from_this()));
        return {};
      },
  };
  return hooks;
}

Layer layer_from_json(const Json& json) {
  if (text_of(json, "class_name") == "InputLayer") return Layer(input_from_json(json));
  if (is_network(json)) return network_from_json(json, name_in(json));
  // The class itself is made here, so that the hook is asked only for what is inside.
  const std::shared_ptr<LayerBase> layer = make_of_class(json);
  const Json* given = find(json, "config");
  Json config = given ? *given : Json::object();
  leave_out_lora(config);
  config_from_json(*layer, config, network_hooks());
  if (layer->name().empty()) layer->set_name(unique_layer_name(layer->class_name()));
  return Layer(layer);
}

Json layer_to_json(const Layer& layer) {
  Json json = object_to_json(*layer, network_hooks());
  for (const auto& [name, module] : kApplicationLayers) {
    if (layer->class_name() != name || json["registered_name"] != nullptr) continue;
    json["module"] = module;
    json["registered_name"] = name;
  }
  return json;
}

}  // namespace plimsoll::keras_io

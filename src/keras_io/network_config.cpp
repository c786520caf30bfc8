#include "keras_io/network_config.h"

#include <cstdlib>
#include <map>
#include <optional>

#include "keras_io/functional_reader.h"
#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "keras_io/layer_json.h"
#include "layers/base/operation.h"
#include "layers/base/functional.h"
#include "layers/base/input_layer.h"

namespace plimsoll::keras_io {
namespace {

// A chain whose first layer is no InputLayer may say what it was built for.
Layer input_of(const Json& json, const Json& config) {
  const Json* shape = find(config, "build_input_shape");
  const Json* built = find(json, "build_config");
  if (!shape && built) shape = find(*built, "input_shape");
  if (!shape || !shape->is_array() || shape->empty() || shape->front().is_array()) return {};
  return layer_from_json({{"class_name", "InputLayer"}, {"config", {{"batch_shape", *shape}}}});
}

Layer read_sequential(const Json& json, const Json& config, const std::string& place) {
  auto network = std::make_shared<SequentialLayer>();
  const Json& layers = get_array(config, "layers", place);
  const bool has_input = !layers.empty() && text_of(layers[0], "class_name") == "InputLayer";
  if (const Layer input = has_input ? Layer() : input_of(json, config)) network->add(input);
  for (const Json& layer : layers) network->add(layer_from_json(layer));
  return Layer(std::move(network));
}

Json tensor_to_json(const Symbol& x, int64_t node) {
  Json config = {{"shape", shape_to_json(x.shape())},
                 {"dtype", name_of(x.dtype())},
                 {"keras_history", {x.call()->layer->name(), node, x.index()}}};
  return {{"class_name", "__keras_tensor__"}, {"config", std::move(config)}};
}

class FunctionalWriter {
 public:
  explicit FunctionalWriter(const Functional& network) : network_(network) {
    for (const auto& call : network.calls()) {
      std::vector<const LayerCall*>& calls = calls_of_[call->layer.get()];
      node_of_[call.get()] = std::ssize(calls);
      calls.push_back(call.get());
    }
  }

  Json layers() const {
    Json list = Json::array();
    for (const Layer& layer : network_.layers()) {
      Json json = layer_to_json(layer);
      Json nodes = Json::array();
      const bool is_input = dynamic_cast<const InputLayer*>(layer.get()) != nullptr;
      for (const LayerCall* call : calls_of_.at(layer.get())) {
        if (!is_input) nodes.push_back(node(*call));
      }
      if (!is_input && !layer->variables().empty()) add_build_config(json, *calls_of_.at(layer.get())[0]);
      json["name"] = layer->name();
      json["inbound_nodes"] = std::move(nodes);
      list.push_back(std::move(json));
    }
    return list;
  }

  Json references(const std::vector<Symbol>& symbols, bool inputs) const {
    Json list = Json::array();
    for (const Symbol& x : symbols) {
      const LayerBase* layer = x.call()->layer.get();
      if (inputs && !dynamic_cast<const InputLayer*>(layer)) {
        fail(ErrorKind::unsupported, network_.name(), "begins at the result of layer '", layer->name(),
             "'; a model that is saved must begin at an Input");
      }
      const int64_t first = dynamic_cast<const Functional*>(layer) ? 1 : 0;
      list.push_back({layer->name(), first + node_of_.at(x.call().get()), x.index()});
    }
    return list.size() == 1 ? Json(list[0]) : list;
  }

  // As a dict where they have keys.
  Json outputs() const {
    const std::vector<std::string>& keys = network_.output_keys();
    if (keys.empty()) return references(network_.outputs(), false);
    Json by_key = Json::object();
    for (size_t i = 0; i < keys.size(); ++i) by_key[keys[i]] = references({network_.outputs()[i]}, false);
    return by_key;
  }

 private:
  static void add_build_config(Json& json, const LayerCall& call) {
    Json shapes = Json::array();
    for (const Symbol& x : call.inputs) shapes.push_back(shape_to_json(x.shape()));
    if (shapes.size() == 1) json["build_config"] = {{"input_shape", shapes[0]}};
  }

  Json tensor(const Symbol& x) const { return tensor_to_json(x, node_of_.at(x.call().get())); }

  Json node(const LayerCall& call) const {
    if (const auto* operation = dynamic_cast<const Operation*>(call.layer.get())) {
      return {{"args", filled(operation->call_form().args, call)},
              {"kwargs", filled(operation->call_form().kwargs, call)}};
    }
    Json inputs = Json::array(), kwargs = Json::object();
    for (const Symbol& x : call.inputs) inputs.push_back(tensor(x));
    // Attention layers with several heads take their tensors one by one, all others as one list.
    const std::string_view kind = call.layer->class_name();
    const bool one_head = kind == "Attention" || kind == "AdditiveAttention";
    const bool one_by_one =
        inputs.size() == 1 || (!one_head && kind.find("Attention") != std::string_view::npos);
    add_options(call, kwargs);
    return {{"args", one_by_one ? inputs : Json::array({inputs})}, {"kwargs", kwargs}};
  }

  static void put_at(Json& list, const std::string& place, Json value, const LayerCall& call) {
    const size_t i = std::strtoul(place.c_str(), nullptr, 10);
    if (i >= call.inputs.size())
      fail(ErrorKind::unsupported, call.layer->name(),
           "was called with a mask for an input it does not have");
    if (!list.is_array()) list = Json(std::vector<Json>(call.inputs.size()));
    list[i] = std::move(value);
  }

  void add_options(const LayerCall& call, Json& kwargs) const {
    for (const auto& [name, x] : call.options.tensors) {
      Json value = tensor(x);
      if (const size_t bracket = name.find('['); bracket != std::string::npos) {  // "mask[1]"
        put_at(kwargs[name.substr(0, bracket)], name.substr(bracket + 1), std::move(value), call);
        continue;
      }
      if (!kwargs.contains(name))
        kwargs[name] = std::move(value);
      else if (kwargs[name].is_array())
        kwargs[name].push_back(std::move(value));
      else
        kwargs[name] = Json::array({kwargs[name], std::move(value)});
    }
    for (const auto& [name, value] : call.options.constants) {
      if (const bool* b = std::get_if<bool>(&value))
        kwargs[name] = *b;
      else if (const int64_t* n = std::get_if<int64_t>(&value))
        kwargs[name] = *n;
      else if (const double* d = std::get_if<double>(&value))
        kwargs[name] = *d;
      else if (const std::string* t = std::get_if<std::string>(&value))
        kwargs[name] = *t;
      else
        fail(ErrorKind::unsupported, call.layer->name(), "was called with '", name,
             "', which a file cannot hold");
    }
  }

  Json filled(const Json& form, const LayerCall& call) const {
    if (const std::optional<size_t> i = marked_tensor(form)) return tensor(call.inputs.at(*i));
    if (!form.is_structured()) return form;
    Json copy = form;
    for (Json& part : copy) part = filled(part, call);
    return copy;
  }

  const Functional& network_;
  std::map<const LayerBase*, std::vector<const LayerCall*>> calls_of_;
  std::map<const LayerCall*, int64_t> node_of_;
};

Json policy_to_json(const LayerBase& layer) {
  const std::string& own = layer.dtype_policy();
  return {{"module", "keras"},
          {"class_name", "DTypePolicy"},
          {"config", {{"name", own.empty() ? global_dtype_policy() : own}}},
          {"registered_name", nullptr}};
}

Json write_functional(const Functional& network) {
  const FunctionalWriter writer(network);
  Json inputs = writer.references(network.inputs(), true);  // first: it refuses what layers() cannot name
  Json config = {{"name", network.name()},
                 {"trainable", network.trainable()},
                 {"layers", writer.layers()},
                 {"input_layers", std::move(inputs)},
                 {"output_layers", writer.outputs()}};
  Json shapes = Json::array();
  for (const Symbol& x : network.inputs()) shapes.push_back(shape_to_json(x.shape()));
  return {{"module", "keras.src.models.functional"},
          {"class_name", "Functional"},
          {"config", std::move(config)},
          {"registered_name", "Functional"},
          {"build_config", {{"input_shape", shapes.size() == 1 ? Json(shapes[0]) : Json()}}}};
}

Json write_sequential(const SequentialLayer& network) {
  Json layers = Json::array();
  for (const Layer& layer : network.layers()) layers.push_back(layer_to_json(layer));
  Json config = {
      {"name", network.name()}, {"trainable", network.trainable()}, {"dtype", policy_to_json(network)}};
  config["layers"] = std::move(layers);
  Json json = {
      {"module", "keras"}, {"class_name", "Sequential"}, {"config", Json()}, {"registered_name", nullptr}};
  if (!network.inputs().empty()) {
    const Json shape = shape_to_json(network.inputs()[0].shape());
    config["build_input_shape"] = shape;
    json["build_config"] = {{"input_shape", shape}};
  }
  json["config"] = std::move(config);
  return json;
}

// Empty: the file does not say. Keras keeps the policy of a Sequential; that of a functional model is lost.
std::string policy_of(const Json& config) {
  const Json* dtype = find(config, "dtype");
  if (!dtype || dtype->is_string()) return text_of(config, "dtype");
  const Json* policy = dtype->is_object() ? find(*dtype, "config") : nullptr;
  return policy && policy->is_object() ? text_of(*policy, "name") : "";
}

Layer read_network(const Json& json, const std::string& place) {
  const Json& config = get(json, "config", place);
  Layer network = text_of(json, "class_name") == "Sequential" ? read_sequential(json, config, place)
                                                              : read_functional(config, place);
  const std::string name = text_of(config, "name");
  network->set_name(name.empty() ? unique_layer_name(network->class_name()) : name);
  if (const std::string policy = policy_of(config); !policy.empty()) network->set_dtype_policy(policy);
  if (const Json* trainable = find(config, "trainable");
      trainable && trainable->is_boolean() && !trainable->get<bool>()) {
    network->set_trainable(false);
  }
  return network;
}

}  // namespace

// Whatever a layer says about arguments that came from a file, the file is what is wrong.
Layer network_from_json(const Json& json, const std::string& place) {
  try {
    if (!is_network(json)) {
      const std::string class_name = text_of(json, "class_name");
      if (class_name.empty()) fail(ErrorKind::bad_file, place, "expected a Sequential or functional model");
      fail(ErrorKind::unsupported, place, "expected a Sequential or functional model, got one of the class ",
           class_name,
           ". The computation of such a class is Python code. Save a functional model of the same "
           "layers in Python, or build the model in C++ and call load_weights() with this file");
    }
    return read_network(json, place);
  } catch (const Error& e) {
    const std::string_view said = e.what();
    if (said.starts_with(concat("[", place, "]"))) throw;
    if (e.kind() == ErrorKind::unsupported) throw Error(e.kind(), place, said);
    if (e.kind() != ErrorKind::invalid_argument && e.kind() != ErrorKind::not_found &&
        e.kind() != ErrorKind::bad_file)
      throw;
    throw Error(ErrorKind::bad_file, place, said);
  } catch (const Json::exception& e) {
    throw Error(ErrorKind::bad_file, place, e.what());
  }
}

Json network_to_json(const Layer& network) {
  if (const auto* functional = dynamic_cast<const Functional*>(network.get()))
    return write_functional(*functional);
  return write_sequential(dynamic_cast<const SequentialLayer&>(*network));
}

}  // namespace plimsoll::keras_io

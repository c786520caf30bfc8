#include "keras_io/legacy_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "keras_io/old_kernels.h"
#include "keras_io/weights_file.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

// Trained ones first: the order of these files, whatever the layer's own.
std::vector<VariablePtr> weights_of(const LayerBase& layer) {
  std::vector<VariablePtr> all = layer.trainable_weights();
  for (const VariablePtr& v : layer.non_trainable_weights()) all.push_back(v);
  return all;
}

struct StoredLayer {
  std::string name;
  const H5Group* group;
  std::vector<std::string> weights;
};

std::vector<StoredLayer> stored_layers(const H5File& file, const H5Group& group) {
  std::vector<StoredLayer> stored;
  for (const std::string& name : group.texts("layer_names")) {
    const H5Group* layer = group.group(name);
    if (!layer) fail(ErrorKind::bad_file, file.name(), "the layer '", name, "' is listed but not there");
    std::vector<std::string> weights = layer->texts("weight_names");
    if (!weights.empty()) stored.push_back({name, layer, std::move(weights)});
  }
  return stored;
}

struct Pair {
  Layer layer;
  const StoredLayer* stored;
};

std::vector<Pair> pair_layers(const H5File& file, const std::vector<StoredLayer>& stored,
                              const Network& network) {
  std::vector<Layer> layers;
  for (const Layer& layer : network.layers()) {
    if (!weights_of(*layer).empty()) layers.push_back(layer);
  }
  if (layers.size() != stored.size()) {
    fail(ErrorKind::bad_file, file.name(), "expected weights for ", layers.size(), " layers, got ",
         stored.size());
  }
  std::map<std::string, const StoredLayer*> by_name;
  for (const StoredLayer& s : stored) by_name[s.name] = &s;
  const bool named = std::all_of(layers.begin(), layers.end(),
                                 [&](const Layer& l) { return by_name.count(l->name()) != 0; });
  std::vector<Pair> pairs;
  for (size_t i = 0; i < layers.size(); ++i)
    pairs.push_back({layers[i], named ? by_name[layers[i]->name()] : &stored[i]});
  return pairs;
}

std::vector<const H5Dataset*> datasets_of(const H5File& file, const StoredLayer& stored) {
  std::vector<const H5Dataset*> list;
  for (const std::string& name : stored.weights) {
    const H5Dataset* dataset = stored.group->dataset(name);
    if (!dataset) fail(ErrorKind::bad_file, file.name(), "the weight '", name, "' is listed but not there");
    list.push_back(dataset);
  }
  return list;
}

bool fit(const std::vector<const H5Dataset*>& from, const std::vector<VariablePtr>& to) {
  return from.size() == to.size() &&
         std::equal(from.begin(), from.end(), to.begin(), [](const H5Dataset* d, const VariablePtr& v) {
           return d->type.shape == v->value.shape();
         });
}

void copy_converted(const H5File& file, const Pair& pair, const Origin& origin,
                    const std::vector<const H5Dataset*>& from, const std::vector<VariablePtr>& to) {
  std::vector<Tensor> values;
  for (const H5Dataset* d : from) values.push_back(file.read(*d));
  std::vector<Shape> shapes;
  for (const VariablePtr& v : to) shapes.push_back(v->value.shape());
  values = convert_old_weights(*pair.layer, origin, std::move(values), shapes);
  const auto what = [&](std::string_view text) {
    fail(ErrorKind::bad_file, concat(file.name(), ": ", pair.stored->name), "for the layer '",
         pair.layer->name(), "' ", text);
  };
  if (values.size() != to.size()) what(concat("expected ", to.size(), " weights, got ", values.size()));
  for (size_t i = 0; i < to.size(); ++i) {
    if (values[i].shape() != shapes[i]) {
      what(concat("weight ", i, " ('", to[i]->name, "') has the shape ", shapes[i], ", the file's is ",
                  values[i].shape()));
    }
    set_value(*to[i], values[i]);
  }
}

std::string text_or(const H5Group& group, std::string_view name, std::string_view otherwise) {
  const std::string* text = group.text(name);
  return text ? *text : std::string(otherwise);
}

// Names of variables as they stand in a file: "dense/kernel", and the layers inside on the way.
void add_names(const LayerBase& layer, const std::string& path,
               std::map<const Variable*, std::string>& names) {
  for (const VariablePtr& v : layer.variables()) names.emplace(v.get(), concat(path, "/", v->name));
  layer.visit_inner([&](std::string_view, const Layer& inner) {
    add_names(*inner, concat(path, "/", inner->name()), names);
  });
}

}  // namespace

bool is_legacy_weights(const H5Group& group) {
  return group.attributes.count("layer_names") || group.attributes.count("layer_names0");
}

void read_legacy_weights(const H5File& file, const H5Group& group, const Network& network) {
  const Origin origin{text_or(group, "keras_version", text_or(file.root(), "keras_version", "1")),
                      text_or(group, "backend", text_or(file.root(), "backend", ""))};
  const std::vector<StoredLayer> stored = stored_layers(file, group);
  for (const Pair& pair : pair_layers(file, stored, network)) {
    const std::vector<const H5Dataset*> from = datasets_of(file, *pair.stored);
    const std::vector<VariablePtr> to = weights_of(*pair.layer);
    if (!origin.turns_kernels() && fit(from, to)) {
      for (size_t i = 0; i < to.size(); ++i) assign(file, *from[i], *to[i]);
    } else {
      copy_converted(file, pair, origin, from, to);
    }
  }
}

std::string read_legacy_optimizer(const H5File& file, const H5Group& group, const Layer& network,
                                  OptimizerState& optimizer) {
  std::vector<const H5Dataset*> stored;
  const std::vector<std::string> names = group.texts("weight_names");
  for (const std::string& name : names) {
    const H5Dataset* dataset = group.dataset(name);
    if (!dataset) return concat("'", name, "' is listed but not there");
    stored.push_back(dataset);
  }
  std::vector<VariablePtr> state = built_variables(optimizer, network);
  const bool scheduled = bool(optimizer.optimizer()->learning_rate.schedule);
  size_t head = scheduled ? 1 : 2;                        // iterations, learning rate
  if (!scheduled && stored.size() + 1 == state.size()) {  // older ones keep the rate in the config
    state.erase(state.begin() + 1);
    head = 1;
  }
  if (stored.size() <= head) state.resize(std::min(stored.size(), state.size()));  // before the first step
  if (fit(stored, state)) {
    for (size_t i = 0; i < state.size(); ++i) assign(file, *stored[i], *state[i]);
    return {};
  }
  // Older optimizers list all slots of one kind, then all of the next.
  const size_t weights = network->trainable_weights().size();
  if (stored.size() != state.size() || weights == 0 || state.size() < head ||
      (state.size() - head) % weights != 0) {
    return concat("expected ", state.size(), " variables, got ", stored.size());
  }
  const size_t kinds = (state.size() - head) / weights;
  std::vector<VariablePtr> grouped(state.begin(), state.begin() + static_cast<ptrdiff_t>(head));
  for (size_t k = 0; k < kinds; ++k) {
    for (size_t w = 0; w < weights; ++w) grouped.push_back(state[head + w * kinds + k]);
  }
  if (!fit(stored, grouped)) return "their shapes are not those of the model's weights";
  for (size_t i = 0; i < grouped.size(); ++i) assign(file, *stored[i], *grouped[i]);
  return {};
}

void write_legacy_weights(H5Writer& file, const std::string& group, const Network& network) {
  std::vector<std::string> layer_names;
  for (const Layer& layer : network.layers()) layer_names.push_back(layer->name());
  file.group(group);
  file.attribute(group, "layer_names", layer_names);
  file.attribute(group, "backend", std::string_view("tensorflow"));
  file.attribute(group, "keras_version", std::string_view(kKerasVersion));
  const std::string prefix = group.empty() ? "" : group + "/";
  for (const Layer& layer : network.layers()) {
    std::map<const Variable*, std::string> names;
    add_names(*layer, layer->name(), names);
    std::vector<std::string> weight_names;
    const std::string at = prefix + layer->name();
    file.group(at);
    for (const VariablePtr& v : weights_of(*layer)) {
      weight_names.push_back(names.at(v.get()));
      file.dataset(concat(at, "/", weight_names.back()), v->value);
    }
    file.attribute(at, "weight_names", weight_names);
  }
  file.group(prefix + "top_level_model_weights");
  file.attribute(prefix + "top_level_model_weights", "weight_names", std::vector<std::string>());
}

void write_legacy_optimizer(H5Writer& file, const std::string& group, const OptimizerState& optimizer) {
  std::vector<std::string> names;
  file.group(group);
  for (const VariablePtr& v : optimizer.variables()) {
    names.push_back(concat("optimizer/", names.size(), "_", v->name));
    file.dataset(concat(group, "/", names.back()), v->value);
  }
  file.attribute(group, "weight_names", names);
}

}  // namespace plimsoll::keras_io

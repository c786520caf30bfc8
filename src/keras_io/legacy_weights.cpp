#include "keras_io/legacy_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

#include "keras_io/json.h"
#include "keras_io/old_kernels.h"
#include "keras_io/weights_file.h"
#include "layers/base/json_parts.h"
#include "memory/spill.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"

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
                    const std::vector<const H5Dataset*>& from, const std::vector<VariablePtr>& to,
                    NewValues& into) {
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
    into.add(values[i], to[i]);
  }
}

// A layer with LoRA has in these files its weight as it was, and a low-rank change beside it:
// kernel + alpha / rank * lora_kernel_a lora_kernel_b. Keras's own .keras files hold the sum.
bool has_lora(const StoredLayer& stored) {
  return std::any_of(stored.weights.begin(), stored.weights.end(),
                     [](const std::string& name) { return name.find("/lora_") != std::string::npos; });
}

// The config of the layer of that name, in models inside too; nullptr: there is none.
const Json* find_config(const Json& json, std::string_view name) {
  if (!json.is_structured()) return nullptr;
  const Json* config = json.is_object() ? find(json, "config") : nullptr;
  if (config && config->is_object() && text_of(*config, "name") == name && find(*config, "lora_rank"))
    return config;
  for (const Json& part : json) {
    if (const Json* found = find_config(part, name)) return found;
  }
  return nullptr;
}

void copy_with_lora(const H5File& file, const StoredLayer& stored, const std::vector<VariablePtr>& to,
                    NewValues& values) {
  const std::string* text = file.root().text("model_config");
  const Json model = text ? parse_json(*text, file.name()) : Json();
  const auto stored_as = [&](const Variable& v, std::string_view name) -> const H5Dataset* {
    const std::string end = concat(v.layer, "/", name);
    for (const std::string& weight : stored.weights) {
      if (weight == end || weight.ends_with("/" + end)) return stored.group->dataset(weight);
    }
    return nullptr;
  };
  for (const VariablePtr& v : to) {
    const H5Dataset* from = stored_as(*v, v->name);
    if (!from || from->type.shape != v->value.shape())
      fail(ErrorKind::bad_file, file.name(), "the weight '", v->name, "' of layer '", v->layer,
           "' is not there, or has another shape");
    Tensor value = file.read(*from);
    const H5Dataset* a = stored_as(*v, concat("lora_", v->name, "_a"));
    const H5Dataset* b = stored_as(*v, concat("lora_", v->name, "_b"));
    if (a && b && a->type.shape.rank() > 0 && b->type.shape.rank() == 2) {
      const Json* config = find_config(model, v->layer);
      const Json* alpha = config ? find(*config, "lora_alpha") : nullptr;
      const auto rank = static_cast<double>(a->type.shape.dim(-1));
      const Tensor change = matmul(file.read(*a), file.read(*b));
      if (change.shape() != value.shape())
        fail(ErrorKind::bad_file, file.name(), "the change of '", v->name, "' of layer '", v->layer,
             "' has the shape ", change.shape(), ", expected ", value.shape());
      value = value + change * ((alpha && alpha->is_number() ? alpha->get<double>() : rank) / rank);
    }
    values.add(value, v);
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

// How the variables that an optimizer keeps for each weight follow one another in a file.
enum class SlotOrder {
  by_weight,       // all of the first weight, all of the second ...: Keras 2.11 and later
  by_kind,         // the first kind of every weight, the second of every weight ...
  by_kind_sorted,  // and the weights by their names, not as the layers are: until Keras 2.0.5
};

std::vector<SlotOrder> slot_orders(const H5File& file) {
  const KerasVersion version = parse_keras_version(text_or(file.root(), "keras_version", "1"));
  if (version < KerasVersion{2, 0, 6}) return {SlotOrder::by_kind_sorted};
  if (version < KerasVersion{2, 11, 0}) return {SlotOrder::by_kind};
  return {SlotOrder::by_weight, SlotOrder::by_kind};  // Keras 2.11 has the older optimizers beside the newer
}

// The trained weights as the optimizer was given them.
std::vector<size_t> weight_order(const H5File& file, const Network& network, SlotOrder order) {
  const std::vector<VariablePtr> weights = network.trainable_weights();
  std::vector<size_t> numbers(weights.size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  const H5Group* group = file.root().group("model_weights");
  if (order != SlotOrder::by_kind_sorted || !group) return numbers;
  std::map<const Variable*, std::string> names;
  const std::vector<StoredLayer> stored = stored_layers(file, *group);
  for (const Pair& pair : pair_layers(file, stored, network)) {
    const std::vector<VariablePtr> of_layer = weights_of(*pair.layer);
    for (size_t i = 0; i < std::min(of_layer.size(), pair.stored->weights.size()); ++i)
      names[of_layer[i].get()] = pair.stored->weights[i];
  }
  std::stable_sort(numbers.begin(), numbers.end(),
                   [&](size_t a, size_t b) { return names[weights[a].get()] < names[weights[b].get()]; });
  return numbers;
}

// What an optimizer keeps, as optimizer.variables() lists it: iterations, the learning rate unless a schedule
// makes it, then the slots, weight by weight.
struct Kept {
  std::vector<VariablePtr> all;
  size_t scalars, weights;

  size_t slots() const { return all.size() - scalars; }
  bool is_regular() const { return weights > 0 && slots() % weights == 0; }
  size_t kinds() const { return weights > 0 ? slots() / weights : 0; }
  // Of the scalars, those that a file of `stored` variables has: older ones keep the rate in the config, some
  // optimizers no iterations either, and before the first step there is nothing else.
  std::vector<VariablePtr> first(size_t stored) const {
    const size_t count = std::min(scalars, stored >= slots() ? stored - slots() : stored);
    return {all.begin(), all.begin() + static_cast<ptrdiff_t>(count)};
  }
};

std::vector<VariablePtr> in_order(const Kept& kept, size_t stored, SlotOrder order,
                                  const std::vector<size_t>& weights) {
  std::vector<VariablePtr> list = kept.first(stored);
  if (list.size() == stored) return list;
  if (order == SlotOrder::by_weight || !kept.is_regular()) {
    list.insert(list.end(), kept.all.begin() + static_cast<ptrdiff_t>(kept.scalars), kept.all.end());
    return list;
  }
  for (size_t k = 0; k < kept.kinds(); ++k) {
    for (const size_t w : weights) list.push_back(kept.all[kept.scalars + w * kept.kinds() + k]);
  }
  return list;
}

// Until 2.3 SGD has a variable for each weight without momentum too, and Adam a third one, of a single zero,
// without amsgrad.
void drop_unused(std::vector<const H5Dataset*>& stored, const Kept& kept) {
  if (!kept.is_regular() || stored.size() != 1 + (kept.kinds() + 1) * kept.weights) return;
  const auto first = stored.end() - static_cast<ptrdiff_t>(kept.weights);
  const auto is_single = [](const H5Dataset* d) { return d->type.shape == Shape({1}); };
  if (kept.kinds() == 0 || std::all_of(first, stored.end(), is_single)) stored.erase(first, stored.end());
}

// Keras 1 does not say what it ran on, but it names weights as the backend does: TensorFlow's are
// "dense_1_W:0".
std::string_view backend_by_names(const std::vector<StoredLayer>& layers) {
  for (const StoredLayer& layer : layers) {
    for (const std::string& name : layer.weights) return name.ends_with(":0") ? "tensorflow" : "theano";
  }
  return "";
}

}  // namespace

bool is_legacy_weights(const H5Group& group) {
  return group.attributes.count("layer_names") || group.attributes.count("layer_names0");
}

void read_legacy_weights(const H5File& file, const H5Group& group, const Network& network,
                         NewValues& values) {
  Origin origin{
      parse_keras_version(text_or(group, "keras_version", text_or(file.root(), "keras_version", "1"))),
      text_or(group, "backend", text_or(file.root(), "backend", ""))};
  const std::vector<StoredLayer> stored = stored_layers(file, group);
  if (origin.backend.empty() && origin.is_keras1()) origin.backend = backend_by_names(stored);
  for (const Pair& pair : pair_layers(file, stored, network)) {
    const std::vector<const H5Dataset*> from = datasets_of(file, *pair.stored);
    const std::vector<VariablePtr> to = weights_of(*pair.layer);
    if (has_lora(*pair.stored))
      copy_with_lora(file, *pair.stored, to, values);
    else if (!origin.turns_kernels() && !origin.is_keras1() && fit(from, to)) {
      for (size_t i = 0; i < to.size(); ++i) values.add(file, *from[i], to[i]);
    } else {
      copy_converted(file, pair, origin, from, to, values);
    }
  }
}

std::string read_legacy_optimizer(const H5File& file, const H5Group& group, const Network& network,
                                  OptimizerState& optimizer, NewValues& values) {
  std::vector<const H5Dataset*> stored;
  for (const std::string& name : group.texts("weight_names")) {
    const H5Dataset* dataset = group.dataset(name);
    if (!dataset) return concat("'", name, "' is listed but not there");
    stored.push_back(dataset);
  }
  optimizer.build(network.trainable_weights());
  Kept kept{optimizer.variables(), optimizer.scalar_count(), network.trainable_weights().size()};
  if (const std::vector<VariablePtr> first = optimizer.first_variables(); stored.size() == first.size())
    kept = {first, first.size(), 0};  // before the first step
  drop_unused(stored, kept);
  for (const SlotOrder order : slot_orders(file)) {
    const std::vector<VariablePtr> to =
        in_order(kept, stored.size(), order, weight_order(file, network, order));
    if (!fit(stored, to)) continue;
    for (size_t i = 0; i < to.size(); ++i) values.add(file, *stored[i], to[i]);
    return {};
  }
  if (stored.size() >= kept.slots() && stored.size() <= kept.all.size()) {
    return "the shapes of its variables are not those of the model's weights";
  }
  return concat("expected ", kept.all.size(), " variables, got ", stored.size());
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
    spill::let_go(*v->value.buffer());
  }
  file.attribute(group, "weight_names", names);
}

}  // namespace plimsoll::keras_io

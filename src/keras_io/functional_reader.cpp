// Functional models from JSON: layers are made first, then called in the order their inputs come to be.
#include "keras_io/functional_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <set>

#include "keras_io/json.h"
#include "layers/base/json_parts.h"
#include "keras_io/layer_json.h"
#include "layers/base/operation.h"
#include "layers/base/functional.h"
#include "layers/base/input_layer.h"

namespace plimsoll::keras_io {
namespace {

struct Reference {
  std::string layer;
  int64_t node = 0, tensor = 0;
};

class FunctionalReader {
 public:
  FunctionalReader(const Json& config, std::string place) : config_(config), place_(std::move(place)) {}

  Layer read() {
    for (const Json& json : get_array(config_, "layers", place_)) add(json);
    call_all();
    auto network = std::make_shared<Functional>(tensors("input_layers"), tensors("output_layers"));
    network->set_output_keys(keys(get(config_, "output_layers", place_)));
    return Layer(std::move(network));
  }

 private:
  struct Entry {
    const Json* json;
    std::string name;
    Layer layer;  // none yet: an Operation
    std::vector<const Json*> nodes;
    std::vector<std::vector<Symbol>> results;  // of the calls made so far
  };
  using Call = std::pair<size_t, size_t>;  // entry, node

  [[noreturn]] void bad(std::string_view what) const { fail(ErrorKind::bad_file, place_, what); }

  void add(const Json& json) {
    Entry e{&json, text_of(json, "name"), {}, {}, {}};
    if (const Json* config = find(json, "config"); config && e.name.empty())
      e.name = text_of(*config, "name");
    if (e.name.empty()) bad("a layer without a name");
    if (!is_operation(json)) e.layer = layer_from_json(json);
    if (dynamic_cast<const InputLayer*>(e.layer.get()))
      e.results = {{symbol_of(e.layer)}};
    else if (const Json* nodes = find(json, "inbound_nodes"); nodes && nodes->is_array()) {
      for (const Json& node : *nodes) e.nodes.push_back(&node);
    }
    if (!index_.emplace(e.name, entries_.size()).second) bad(concat("two layers called '", e.name, "'"));
    entries_.push_back(std::move(e));
  }

  // Of the calls that can be made, the one of the earliest layer first; a layer's own calls in their order.
  void call_all() {
    std::map<Call, std::vector<Call>> waiting;
    std::map<Call, size_t> missing;
    std::priority_queue<Call, std::vector<Call>, std::greater<>> ready;
    size_t left = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
      for (size_t k = 0; k < entries_[i].nodes.size(); ++k) {
        std::set<Call> needs;
        if (k > 0) needs.insert({i, k - 1});
        collect(*entries_[i].nodes[k], needs, 0);
        for (const Call& need : needs) waiting[need].push_back({i, k});
        missing[{i, k}] = needs.size();
        if (needs.empty()) ready.push({i, k});
        ++left;
      }
    }
    for (; !ready.empty(); --left) {
      const Call call = ready.top();
      ready.pop();
      make_call(entries_[call.first], *entries_[call.first].nodes[call.second]);
      for (const Call& next : waiting[call]) {
        if (--missing[next] == 0) ready.push(next);
      }
    }
    if (left > 0) bad("its layers are connected in a circle");
  }

  static const Json* history_of(const Json& json) {
    if (!json.is_object() || text_of(json, "class_name") != "__keras_tensor__") return nullptr;
    const Json* config = find(json, "config");
    return config ? find(*config, "keras_history") : nullptr;
  }
  Reference reference(const Json& history) const {
    const bool is_list = history.is_array() && history.size() >= 3 && history[0].is_string();
    const std::optional<int64_t> node = is_list ? int64_of(history[1]) : std::nullopt;
    const std::optional<int64_t> tensor = is_list ? int64_of(history[2]) : std::nullopt;
    if (!node || !tensor) bad("expected [layer, node, tensor] where a tensor comes from");
    return {history[0].get<std::string>(), *node, *tensor};
  }
  // Which call of the entry is meant. A model inside counts its own making as a call in some files; that node
  // is never the one meant.
  Call call_of(const Reference& r) const {
    const auto found = index_.find(r.layer);
    if (found == index_.end()) bad(concat("a layer is connected to '", r.layer, "', which is not there"));
    const Entry& e = entries_[found->second];
    const auto count = static_cast<int64_t>(std::max(e.nodes.size(), e.results.size()));
    int64_t node = r.node;
    if (node >= count && dynamic_cast<const Network*>(e.layer.get())) node -= 1;
    if (node < 0 || node >= count) bad(concat("layer '", r.layer, "' has no call ", r.node));
    return {found->second, static_cast<size_t>(node)};
  }

  void collect(const Json& json, std::set<Call>& needs, int depth) const {
    if (const Json* history = history_of(json)) {
      const Call call = call_of(reference(*history));
      if (!entries_[call.first].nodes.empty()) needs.insert(call);  // inputs are there from the start
    } else if (json.is_structured()) {
      for (const Json& part : json) collect(part, needs, depth + 1);
    }
  }

  Symbol symbol(const Reference& r) const {
    const Call call = call_of(r);
    const std::vector<std::vector<Symbol>>& results = entries_[call.first].results;
    if (call.second >= results.size() || r.tensor < 0 || r.tensor >= std::ssize(results[call.second])) {
      bad(concat("layer '", r.layer, "' has no output ", r.tensor));
    }
    return results[call.second][static_cast<size_t>(r.tensor)];
  }

  void make_call(Entry& e, const Json& node) {
    const Json args = find(node, "args") ? *find(node, "args") : Json::array();
    const Json kwargs = find(node, "kwargs") ? *find(node, "kwargs") : Json::object();
    if (!args.is_array() || !kwargs.is_object())
      bad(concat("layer '", e.name, "': expected a list of 'args' and 'kwargs' by name"));
    std::vector<Symbol> inputs;
    CallOptions options;
    if (is_operation(*e.json)) {
      OperationCall form{replaced(args, inputs), replaced(kwargs, inputs)};
      e.layer = Layer(std::make_shared<Operation>(*e.json, std::move(form)));
      if (!inputs.empty() && is_float(inputs[0].dtype())) {
        e.layer->set_dtype_policy(std::string(name_of(inputs[0].dtype())));
      }
    } else {
      add_positional(e, args, inputs);
      for (const char* name : {"inputs", "query", "value", "key"}) {
        if (const Json* given = find(kwargs, name)) add_positional(e, Json::array({*given}), inputs);
      }
      for (const auto& [name, value] : kwargs.items()) add_option(e, name, value, options);
    }
    e.results.push_back(e.layer.outputs(inputs, options));
  }

  // Constants stay, tensors become marks.
  Json replaced(const Json& json, std::vector<Symbol>& inputs) const {
    if (const Json* history = history_of(json)) {
      inputs.push_back(symbol(reference(*history)));
      return tensor_mark(inputs.size() - 1);
    }
    if (!json.is_structured()) return json;
    Json copy = json;
    for (Json& part : copy) part = replaced(part, inputs);
    return copy;
  }

  void add_positional(const Entry& e, const Json& args, std::vector<Symbol>& inputs) const {
    for (const Json& arg : args) {
      if (const Json* history = history_of(arg))
        inputs.push_back(symbol(reference(*history)));
      else if (arg.is_array())
        add_positional(e, arg, inputs);
      else if (arg.is_object() && !find(arg, "class_name")) {
        for (const auto& [name, value] : arg.items()) add_positional(e, Json::array({value}), inputs);
      } else if (!arg.is_null()) {
        fail(ErrorKind::unsupported, e.name, "was called with the constant ", arg.dump().substr(0, 60),
             " in place of a tensor");
      }
    }
  }

  // null, or nothing but nulls: the masks that Keras hands to a model inside with several inputs.
  static bool says_nothing(const Json& value) {
    return value.is_structured() ? std::all_of(value.begin(), value.end(), says_nothing) : value.is_null();
  }

  void add_option(const Entry& e, const std::string& name, const Json& value, CallOptions& options) const {
    if (says_nothing(value) || name == "inputs" || name == "query" || name == "value" || name == "key")
      return;
    if (name == "training" && find(*e.json, "module")) return;  // Keras 3 puts the model's own in its place
    if (const Json* history = history_of(value)) {
      options.tensors.emplace_back(name, symbol(reference(*history)));
    } else if (value.is_array() && std::any_of(value.begin(), value.end(), history_of)) {
      const bool gaps =
          std::any_of(value.begin(), value.end(), [](const Json& part) { return part.is_null(); });
      for (size_t i = 0; i < value.size(); ++i) {  // with gaps ([None, mask]) each says which it is
        if (const Json* inner = history_of(value[i]))
          options.tensors.emplace_back(gaps ? concat(name, "[", i, "]") : name, symbol(reference(*inner)));
      }
    } else if (value.is_boolean()) {
      options.constants.set(name, value.get<bool>());
    } else if (const std::optional<int64_t> integer = int64_of(value)) {
      options.constants.set(name, *integer);
    } else if (value.is_number()) {
      options.constants.set(name, value.get<double>());
    } else if (value.is_string()) {
      options.constants.set(name, value.get<std::string>());
    } else {
      fail(ErrorKind::unsupported, e.name, "was called with an argument '", name, "' that cannot be kept");
    }
  }

  // One reference, a list of them, or by name (in the order of the names, as Keras flattens).
  std::vector<Symbol> tensors(std::string_view key) const {
    std::vector<Symbol> list;
    gather(get(config_, key, place_), list, 0);
    return list;
  }
  // Of a dict of single tensors: its keys, in the order of gather().
  static std::vector<std::string> keys(const Json& json) {
    std::vector<std::string> names;
    if (!json.is_object()) return names;
    for (const auto& [name, part] : json.items()) {
      if (!part.is_array() || part.size() < 3 || !part[0].is_string()) return {};
      names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void gather(const Json& json, std::vector<Symbol>& list, int depth) const {
    if (depth > 8 || !json.is_structured())
      bad("expected lists of [layer, node, tensor] for its inputs and outputs");
    if (json.is_array() && json.size() >= 3 && json[0].is_string())
      return list.push_back(output(reference(json)));
    if (json.is_object()) {
      std::map<std::string, const Json*> by_name;
      for (const auto& [name, part] : json.items()) by_name.emplace(name, &part);
      for (const auto& [name, part] : by_name) gather(*part, list, depth + 1);
      return;
    }
    for (const Json& part : json) gather(part, list, depth + 1);
  }
  // Where a model's outputs are listed, the calls of a functional model inside count from 1.
  Symbol output(Reference r) const {
    const auto found = index_.find(r.layer);
    if (found != index_.end() && r.node > 0 &&
        dynamic_cast<const Functional*>(entries_[found->second].layer.get())) {
      r.node -= 1;
    }
    return symbol(r);
  }

  const Json& config_;
  std::string place_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

}  // namespace

Layer read_functional(const Json& config, const std::string& place) {
  return FunctionalReader(config, place).read();
}

}  // namespace plimsoll::keras_io

#include "keras_io/weight_paths.h"

#include <map>
#include <set>

#include "layers/base/operation.h"
#include "layers/base/borrowed.h"
#include "layers/base/functional.h"
#include "layers/base/input_layer.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"

namespace plimsoll::keras_io {
namespace {

class Walk {
 public:
  explicit Walk(bool keras2) : keras2_(keras2) {}
  std::vector<StoredVariable> found;

  void layer(const Layer& layer, const std::string& path) {
    if (!seen_.insert(layer.get()).second) return;
    own_variables(layer, path);
    if (const auto* network = dynamic_cast<const Network*>(layer.get()))
      return layers_of(*network, join(path, keras2_ ? kKeras2Layers : "layers"));
    layer->visit_inner(
        [&](std::string_view name, const Layer& inner) { this->layer(inner, join(path, name)); });
  }

 private:
  static std::string join(const std::string& path, std::string_view name) {
    return path.empty() ? std::string(name) : concat(path, "/", name);
  }

  void layers_of(const Network& network, const std::string& path) {
    const bool chain = dynamic_cast<const SequentialLayer*>(&network) != nullptr;
    std::map<std::string, int> used;
    for (const Layer& inner : network.layers()) {
      if (dynamic_cast<const Operation*>(inner.get())) continue;
      if (chain && dynamic_cast<const InputLayer*>(inner.get())) continue;
      std::string name = snake_name(inner->class_name());
      if (inner->class_name() == "GroupQueryAttention")
        name = "grouped_query_attention";  // its name in Python
      int& number = used[name];
      if (number > 0) name = concat(name, "_", number);
      number += keras2_ && !inner->weights().empty() ? 2 : 1;
      layer(inner, join(path, name));
    }
  }

  // "cell/kernel" is the variable "kernel" of the object in the layer's attribute "cell". What is trained
  // comes first.
  void own_variables(const Layer& layer, const std::string& path) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<VariablePtr>> groups;
    if (const VariablePtr kernel = borrowed_kernel(*layer)) {
      order.emplace_back();
      groups[""].push_back(kernel);
    }
    for (const bool trained : {true, false}) {
      for (const VariablePtr& v : layer->variables()) {
        if (v->trainable != trained) continue;
        const size_t slash = v->name.rfind('/');
        const std::string holder = slash == std::string::npos ? std::string() : v->name.substr(0, slash);
        if (groups.find(holder) == groups.end()) order.push_back(holder);
        groups[holder].push_back(v);
      }
    }
    for (const std::string& holder : order) {
      const std::string group = holder.empty() ? path : join(path, holder);
      for (size_t i = 0; i < groups[holder].size(); ++i)
        found.push_back({group, i, groups[holder][i], layer->name()});
    }
  }

  bool keras2_;
  std::set<const LayerBase*> seen_;
};

}  // namespace

std::string StoredVariable::path() const { return concat(group, group.empty() ? "" : "/", "vars/", index); }

std::vector<StoredVariable> stored_variables(const Layer& network, bool keras2) {
  Walk walk(keras2);
  walk.layer(network, "");
  return std::move(walk.found);
}

}  // namespace plimsoll::keras_io

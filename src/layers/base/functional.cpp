#include "layers/base/functional.h"

#include <algorithm>
#include <set>

#include "layers/base/input_layer.h"
#include "layers/base/trace.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

using CallPtr = std::shared_ptr<const LayerCall>;

std::vector<Symbol> dependencies(const LayerCall& call) {
  std::vector<Symbol> all = call.inputs;
  for (const auto& [name, x] : call.options.tensors) all.push_back(x);
  return all;
}

// The calls between inputs and outputs, each after those it depends on, and the order in which their layers
// were first met on the way back from the outputs (Keras's _build_map). Walks with a stack of its own: models
// may be deep.
struct Walk {
  std::vector<CallPtr> calls;
  std::map<const LayerBase*, int64_t> met;

  Walk(const std::vector<Symbol>& inputs, const std::vector<Symbol>& outputs) {
    for (const Symbol& x : inputs) given.insert(x.call().get());
    for (const Symbol& y : outputs) visit(y.call());
    // An input that no output depends on belongs to the model too, before all that was met.
    for (const Symbol& x : inputs) {
      if (!seen.insert(x.call().get()).second) continue;
      met.try_emplace(x.call()->layer.get(), -1);
      calls.push_back(x.call());
    }
  }

 private:
  struct Frame {
    CallPtr call;
    std::vector<Symbol> needs;
    size_t next = 0;
  };

  void enter(const CallPtr& call, std::vector<Frame>& stack) {
    if (!seen.insert(call.get()).second) return;
    met.try_emplace(call->layer.get(), std::ssize(met));
    require(given.count(call.get()) != 0 || dynamic_cast<const InputLayer*>(call->layer.get()) == nullptr,
            "model", "the outputs depend on the input '", call->layer->name(),
            "', which is not among the model's inputs");
    stack.push_back({call, given.count(call.get()) != 0 ? std::vector<Symbol>() : dependencies(*call)});
  }

  void visit(const CallPtr& from) {
    std::vector<Frame> stack;
    enter(from, stack);
    while (!stack.empty()) {
      if (stack.back().next < stack.back().needs.size()) {
        const CallPtr need = stack.back().needs[stack.back().next++].call();
        enter(need, stack);
      } else {
        calls.push_back(stack.back().call);
        stack.pop_back();
      }
    }
  }

  std::set<const LayerCall*> given, seen;
};

// Keras lists layers by their depth, that is how far from the outputs they are last used, then as they were
// met.
std::vector<Layer> order_layers(const Walk& walk) {
  std::map<const LayerCall*, int64_t> call_depth;
  std::map<const LayerBase*, int64_t> layer_depth;
  std::map<const LayerBase*, Layer> layers;
  for (auto call = walk.calls.rbegin(); call != walk.calls.rend(); ++call) {
    const LayerBase* layer = (*call)->layer.get();
    int64_t& known = layer_depth[layer];
    known = std::max(known, call_depth[call->get()]);
    layers[layer] = (*call)->layer;
    for (const Symbol& x : dependencies(**call)) {
      int64_t& depth = call_depth[x.call().get()];
      depth = std::max(depth, known + 1);
    }
  }
  std::vector<Layer> ordered;
  for (const auto& [key, layer] : layers) ordered.push_back(layer);
  std::sort(ordered.begin(), ordered.end(), [&](const Layer& a, const Layer& b) {
    const int64_t depth_a = layer_depth[a.get()];
    const int64_t depth_b = layer_depth[b.get()];
    return depth_a != depth_b ? depth_a > depth_b : walk.met.at(a.get()) < walk.met.at(b.get());
  });
  return ordered;
}

bool fits(const Shape& shape, const SymbolShape& wanted) {
  if (shape.rank() != std::ssize(wanted)) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = wanted[static_cast<size_t>(i)];
    if (size >= 0 && size != shape[i]) return false;
  }
  return true;
}

Tensor fit_input(const Tensor& given, const Symbol& wanted) {
  require(!is_complex(given.dtype()) || is_complex(wanted.dtype()), wanted.call()->layer->name(),
          "expected an input of type ", name_of(wanted.dtype()), ", got ", name_of(given.dtype()),
          ": give real and imaginary parts as numbers of their own");
  Tensor x = given.dtype() == wanted.dtype() ? given : cast(given, wanted.dtype());
  const auto rank = std::ssize(wanted.shape());
  if (x.rank() == rank + 1 && x.dim(-1) == 1)
    x = squeeze(x, -1);
  else if (x.rank() == rank - 1 && wanted.shape().back() == 1)
    x = expand_dims(x, -1);
  require(fits(x.shape(), wanted.shape()), wanted.call()->layer->name(), "expected an input of shape ",
          text_of(wanted.shape()), ", got ", given.shape());
  return x;
}

}  // namespace

std::string text_of(const SymbolShape& shape) {
  std::string text;
  for (const int64_t size : shape)
    text += concat(text.empty() ? "" : ", ", size < 0 ? "None" : std::to_string(size));
  return concat("(", text, shape.size() == 1 ? ",)" : ")");
}

std::vector<Tensor> Network::fitted(std::span<const Tensor> xs) const {
  require(inputs().empty() || xs.size() == inputs().size(), name(), "expected ", inputs().size(),
          " inputs, got ", xs.size());
  std::vector<Tensor> fitted(xs.begin(), xs.end());
  for (size_t i = 0; i < inputs().size(); ++i) fitted[i] = fit_input(xs[i], inputs()[i]);
  return fitted;
}

void Network::visit_inner(const std::function<void(std::string_view, const Layer&)>& visit) const {
  for (const Layer& layer : layers()) visit(layer->name(), layer);
}

const std::vector<std::string>& Network::output_keys() const {
  static const std::vector<std::string> none;
  return none;
}

std::vector<std::string> Network::output_names() const {
  if (!output_keys().empty()) return output_keys();
  std::vector<std::string> names;
  for (const Symbol& y : outputs()) {
    const std::string& base = y.call()->layer->name();
    std::string name = base;
    for (int n = 1; std::find(names.begin(), names.end(), name) != names.end(); ++n)
      name = concat(base, "_", n);
    names.push_back(std::move(name));
  }
  return names;
}

void Functional::set(std::vector<Symbol> inputs, std::vector<Symbol> outputs) {
  inputs_ = std::move(inputs);
  outputs_ = std::move(outputs);
  output_keys_.clear();
  require(!inputs_.empty() && !outputs_.empty(), "model", "expected at least one input and one output");
  for (const std::vector<Symbol>* list : {&inputs_, &outputs_}) {
    for (const Symbol& x : *list)
      require(x.defined(), "model", "expected inputs and outputs that are defined, got an undefined symbol");
  }
  const Walk walk(inputs_, outputs_);
  calls_ = walk.calls;
  for (const CallPtr& call : calls_) {
    if (is_given(*call)) continue;
    for (const Symbol& x : dependencies(*call)) check_known(x);
  }
  for (const Symbol& y : outputs_) check_known(y);
  layers_ = order_layers(walk);
  std::set<std::string> names;
  for (const Layer& layer : layers_) {
    require(names.insert(layer->name()).second, "model", "two layers are called '", layer->name(),
            "'; layers of a model need names of their own");
  }
}

bool Functional::is_given(const LayerCall& call) const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [&](const Symbol& given) { return given.call().get() == &call; });
}

void Functional::check_known(const Symbol& x) const {
  const bool known =
      !is_given(*x.call()) || std::any_of(inputs_.begin(), inputs_.end(), [&](const Symbol& given) {
        return given.call() == x.call() && given.index() == x.index();
      });
  require(known, "model", "begins at a result of layer '", x.call()->layer->name(), "' and uses result ",
          x.index(), " of the same call, which is not among the model's inputs");
}

std::vector<Tensor> Functional::call_many(Scope& s, std::span<const Tensor> given) {
  const std::vector<Tensor> xs = fitted(given);
  std::map<std::pair<const LayerCall*, size_t>, Tensor> values;
  for (size_t i = 0; i < xs.size(); ++i) values[{inputs_[i].call().get(), inputs_[i].index()}] = xs[i];
  const auto value = [&](const Symbol& x) { return values.at({x.call().get(), x.index()}); };
  for (const CallPtr& call : calls_) {
    if (is_given(*call)) continue;
    std::vector<Tensor> inputs;
    for (const Symbol& x : call->inputs) inputs.push_back(value(x));
    Arguments arguments{{}, call->options.constants};
    for (const auto& [name, x] : call->options.tensors) arguments.tensors.emplace_back(name, value(x));
    const std::vector<Tensor> ys = s.call(call->layer, inputs, arguments);
    for (size_t i = 0; i < ys.size(); ++i) values[{call.get(), i}] = ys[i];
  }
  std::vector<Tensor> results;
  for (const Symbol& y : outputs_) results.push_back(value(y));
  return results;
}

std::vector<Tensor> SequentialLayer::call_many(Scope& s, std::span<const Tensor> xs) {
  std::vector<Tensor> values = fitted(xs);
  for (const Layer& layer : layers_) values = s.call(layer, values);
  return values;
}

void SequentialLayer::add(const Layer& layer) {
  require(layer.get() != nullptr, name(), "expected a layer, got none");
  require(!names_.contains(layer->name()), name(), "two layers are called '", layer->name(),
          "'; layers of a model need names of their own");
  const bool is_input = dynamic_cast<const InputLayer*>(layer.get()) != nullptr;
  require(!is_input || layers_.empty(), name(), "an Input can only come first");
  if (is_input) {
    inputs_ = {symbol_of(layer)};
    outputs_ = inputs_;
  } else if (!outputs_.empty()) {
    outputs_ = layer.outputs(outputs_);
  }
  layers_.push_back(layer);
  names_.insert(layer->name());
}

void SequentialLayer::pop() {
  require(!layers_.empty() && dynamic_cast<const InputLayer*>(layers_.back().get()) == nullptr, name(),
          "pop(): there is no layer to take away");
  if (!outputs_.empty()) outputs_ = std::vector<Symbol>(outputs_[0].call()->inputs);
  names_.erase(layers_.back()->name());
  layers_.pop_back();
}

}  // namespace plimsoll

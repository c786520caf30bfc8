#include "layers/base/trace.h"

#include "layers/base/initial_values.h"
#include "memory/addresses.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/random.h"
#include "plimsoll/planning.h"

namespace plimsoll {

namespace {

// The layer and those inside it that have no weights yet. A layer that is built has built all inside it.
void collect_unbuilt(LayerBase& layer, std::vector<LayerBase*>& out) {
  if (layer.built()) return;
  out.push_back(&layer);
  layer.visit_inner([&](std::string_view, const Layer& inner) { collect_unbuilt(*inner, out); });
}

}  // namespace

Tensor as_mask(const Tensor& given) {
  return given.dtype() == DType::boolean ? given : not_equal(given, scalar_like(given, 0));
}

Tensor given_mask(const Arguments& arguments, size_t i) {
  const std::string own = concat("mask[", i, "]");
  size_t place = 0;
  for (const auto& [name, tensor] : arguments.tensors) {
    if (name == own || (name == "mask" && place++ == i)) return as_mask(tensor);
  }
  return {};
}

std::vector<Tensor> Trace::call(const Layer& layer, std::span<const Tensor> xs, const Arguments& arguments) {
  require(layer.get() != nullptr, "layer", "expected a layer, got none");
  // A model inside a model inside a model ..., each called twice, is a short file and no end of calls.
  constexpr int64_t kMostCalls = 1 << 18;
  require(++calls_ <= kMostCalls, layer->name(), "one step of the model calls more than ", kMostCalls,
          " layers");
  // What is built in a call that fails is dropped again, in layers inside too.
  std::vector<LayerBase*> fresh;
  collect_unbuilt(*layer, fresh);
  const bool was_training = training_;
  const std::string outer = graph_.set_layer(layer->name());
  const auto restore = [&] {
    training_ = was_training;
    graph_.set_layer(outer);
  };
  if (const Attr* given = arguments.constants.find("training")) {
    if (const bool* on = std::get_if<bool>(given)) training_ = *on;
  }
  try {
    std::vector<Tensor> ys = call_built(*layer, xs, arguments);
    layer->built_ = true;
    // From now on: a policy that is set for other layers is none of this one's.
    if (layer->dtype_policy_.empty()) layer->dtype_policy_ = global_dtype_policy();
    restore();
    return ys;
  } catch (...) {
    for (LayerBase* unbuilt : fresh) {
      unbuilt->variables_.clear();
      unbuilt->built_ = false;
    }
    restore();
    throw;
  }
}

std::vector<Tensor> Trace::call_built(LayerBase& layer, std::span<const Tensor> xs,
                                      const Arguments& arguments) {
  std::vector<Tensor> inputs(xs.begin(), xs.end());
  const DType compute = layer.compute_dtype();
  for (Tensor& x : inputs) {
    if (!layer.casts_inputs() || !is_float(x.dtype()) || x.dtype() == compute) continue;
    const Tensor mask = this->mask(x);
    x = cast(x, compute);
    if (mask.defined()) set_mask(x, mask);
  }
  Scope scope(*this, layer, arguments);
  const std::vector<Tensor> carried = put_masks(inputs, arguments);
  std::vector<Tensor> ys = layer.call_many(scope, inputs);
  if (const Regularizer& r = layer.activity_regularizer()) {
    for (const Tensor& y : ys)
      add_loss(r->loss(y) / static_cast<double>(std::max<int64_t>(y.rank() > 0 ? y.dim(0) : 1, 1)));
  }
  if (layer.passes_mask() && !inputs.empty()) {
    for (const Tensor& y : ys) {
      if (!mask(y).defined()) set_mask(y, mask(inputs[0]));
    }
  }
  for (size_t i = 0; i < carried.size(); ++i) replace_mask(inputs[i], carried[i]);
  return ys;
}

Trace::Held& Trace::held(const VariablePtr& variable) {
  const auto [place, added] = index_.try_emplace(variable.get(), held_.size());
  if (added) {
    const Tensor value = graph_.variable(variable->name, variable->value);
    held_.push_back({variable, value, value});
  }
  return held_[place->second];
}

Tensor Trace::value(const VariablePtr& variable) { return held(variable).now; }
Tensor Trace::initial_value(const VariablePtr& variable) { return held(variable).before; }
void Trace::update(const VariablePtr& variable, const Tensor& next) { held(variable).now = next; }

void Trace::add_updates() {
  for (const Held& h : held_) {
    if (h.now.id() != h.before.id()) graph_.update(h.before, h.now);
  }
}

Tensor Trace::mask(const Tensor& x) const {
  if (!x.is_symbolic()) return {};
  const auto found = masks_.find(x.id());
  return found == masks_.end() ? Tensor() : found->second;
}

// Masks that were given to the call by name stand, while it lasts, in the place of those that its inputs
// carry, which are returned; empty: none were given. Which of two equal inputs is meant, the layer knows.
std::vector<Tensor> Trace::put_masks(const std::vector<Tensor>& inputs, const Arguments& arguments) {
  std::vector<Tensor> carried, given;
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_symbolic()) return {};
    for (size_t j = 0; j < i; ++j) {
      if (inputs[i].id() == inputs[j].id()) return {};
    }
    carried.push_back(mask(inputs[i]));
    given.push_back(given_mask(arguments, i));
    any = any || given[i].defined();
  }
  if (!any) return {};
  for (size_t i = 0; i < inputs.size(); ++i) set_mask(inputs[i], given[i]);
  return carried;
}

void Trace::replace_mask(const Tensor& x, const Tensor& mask) {
  if (!x.is_symbolic()) return;
  masks_.erase(x.id());
  set_mask(x, mask);
}

void Trace::set_mask(const Tensor& x, const Tensor& mask) {
  if (x.is_symbolic() && mask.defined()) masks_[x.id()] = mask;
}

bool Scope::training() const { return trace_.training(); }

Tensor Scope::weight(std::string_view name, const Shape& shape, const Initializer& initializer,
                     const WeightOptions& options) {
  VariablePtr variable = layer_.find_variable(name);
  if (variable == nullptr) {
    require(bool(initializer), layer_.name(), "expected an initializer for the weight '", name,
            "', got none");
    const DType dtype = options.dtype.value_or(layer_.variable_dtype());
    const bool from_file = WithoutInitialValues::active() && !options.is_state;
    const Tensor value = Outline::active() ? Tensor(dtype, shape, addresses(byte_size(dtype, shape)))
                         : from_file       ? Tensor::empty(dtype, shape)
                                           : initializer->make(shape, dtype);
    variable = layer_.add_variable({.name = std::string(name),
                                    .value = value,
                                    .trainable = options.trainable && !options.is_state,
                                    .is_seed = options.is_state,
                                    .regularizer = options.regularizer,
                                    .constraint = options.constraint});
  }
  require(variable->value.shape() == shape, layer_.name(), "its weight '", name, "' was built with shape ",
          variable->value.shape(), ", this input asks for ", shape,
          "; a size that weights depend on must be known and stay the same");
  const Tensor value = trace_.value(variable);
  return options.dtype || !is_float(value.dtype()) ? value : cast(value, layer_.compute_dtype());
}

void Scope::update(std::string_view name, const Tensor& next) {
  const VariablePtr variable = layer_.find_variable(name);
  require(variable != nullptr, layer_.name(), "has no weight '", name, "' to update");
  trace_.update(variable, cast(next, variable->value.dtype()));
}

void Scope::add_seed_generator(const std::optional<int64_t>& seed, std::string_view generator) {
  const std::string name = std::string(generator) + "/seed_generator_state";
  if (layer_.find_variable(name) != nullptr) return;
  const uint32_t state[2] = {static_cast<uint32_t>(seed ? *seed : next_seed()), 0};
  layer_.add_variable(
      {.name = name, .value = Tensor::from<uint32_t>(state, Shape{2}), .trainable = false, .is_seed = true});
}

Tensor Scope::random_key(const std::optional<int64_t>& seed, std::string_view generator) {
  add_seed_generator(seed, generator);
  const VariablePtr variable = layer_.find_variable(std::string(generator) + "/seed_generator_state");
  const Tensor key = trace_.value(variable);
  const uint32_t one[2] = {0, 1};
  trace_.update(variable, key + Tensor::from<uint32_t>(one, Shape{2}));
  return key;
}

void Scope::add_loss(const Tensor& scalar) { trace_.add_loss(scalar); }
Tensor Scope::mask(const Tensor& x) const { return trace_.mask(x); }
void Scope::set_mask(const Tensor& y, const Tensor& mask) { trace_.set_mask(y, mask); }

Tensor Scope::argument(std::string_view name) const {
  for (const auto& [given, tensor] : arguments_.tensors) {
    if (given == name) return tensor;
  }
  return {};
}

std::vector<Tensor> Scope::arguments(std::string_view name) const {
  std::vector<Tensor> all;
  for (const auto& [given, tensor] : arguments_.tensors) {
    if (given == name) all.push_back(tensor);
  }
  return all;
}

const Attr* Scope::constant(std::string_view name) const { return arguments_.constants.find(name); }

Tensor Scope::call(const Layer& inner, const Tensor& x) {
  const std::vector<Tensor> ys = trace_.call(inner, {&x, 1});
  require(ys.size() == 1, inner->name(), "expected one output, got ", ys.size());
  return ys[0];
}

std::vector<Tensor> Scope::call(const Layer& inner, std::span<const Tensor> xs, const Arguments& arguments) {
  return trace_.call(inner, xs, arguments);
}

DType Scope::compute_dtype() const { return layer_.compute_dtype(); }

}  // namespace plimsoll

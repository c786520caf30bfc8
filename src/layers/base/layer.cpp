#include "plimsoll/layer.h"

#include <cctype>
#include <map>

#include "layers/base/borrowed.h"
#include "layers/base/parts.h"
#include "memory/buffer.h"
#include "plimsoll/contents.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

std::map<std::string, int64_t>& name_counts() {
  static std::map<std::string, int64_t> counts;
  return counts;
}

std::string& policy() {
  static std::string name = "float32";
  return name;
}

// "mixed_bfloat16" computes in bfloat16 and keeps weights in float32.
DType policy_dtype(std::string_view name, bool of_variables) {
  constexpr std::string_view kMixed = "mixed_";
  if (name.starts_with(kMixed)) {
    if (of_variables) return DType::f32;
    name.remove_prefix(kMixed.size());
  }
  const std::optional<DType> dtype = dtype_from_name(name);
  require(dtype.has_value() && is_float(*dtype), "dtype_policy",
          "expected a float dtype or mixed_bfloat16 or mixed_float16, got '", name, "'");
  return *dtype;
}

void collect(const LayerBase& layer, bool trainable, std::vector<std::pair<VariablePtr, bool>>& out) {
  trainable = trainable && layer.trainable();
  if (const VariablePtr kernel = borrowed_kernel(layer))
    out.emplace_back(kernel, trainable && kernel->trainable);
  // Keras lists a layer's trainable variables before the others.
  for (const bool first : {true, false}) {
    for (const VariablePtr& v : layer.variables()) {
      if (v->trainable == first) out.emplace_back(v, trainable && v->trainable);
    }
  }
  layer.visit_inner([&](std::string_view, const Layer& inner) { collect(*inner, trainable, out); });
}

// Each variable once, though its layer may be used in several places.
template <class Keep>
std::vector<VariablePtr> select(const LayerBase& layer, Keep keep) {
  std::vector<std::pair<VariablePtr, bool>> all;
  collect(layer, true, all);
  std::vector<VariablePtr> chosen;
  std::map<const Variable*, bool> seen;
  for (const auto& [variable, trains] : all) {
    if (keep(*variable, trains) && seen.emplace(variable.get(), true).second) chosen.push_back(variable);
  }
  return chosen;
}

}  // namespace

Tensor LayerBase::call(Scope&, const Tensor&) {
  fail(ErrorKind::internal, name_, class_name(), " implements neither call() nor call_many()");
}

std::vector<Tensor> LayerBase::call_many(Scope& s, std::span<const Tensor> xs) {
  require(xs.size() == 1, name_, "expected one input, got ", xs.size());
  return {call(s, xs[0])};
}

void LayerBase::set_trainable(bool on) {
  trainable_ = on;
  visit_inner([on](std::string_view, const Layer& inner) { inner->set_trainable(on); });
}

void LayerBase::set_dtype_policy(std::string policy) {
  policy_dtype(policy, false);
  dtype_policy_ = std::move(policy);
}

DType LayerBase::compute_dtype() const {
  return policy_dtype(dtype_policy_.empty() ? policy() : dtype_policy_, false);
}
DType LayerBase::variable_dtype() const {
  return policy_dtype(dtype_policy_.empty() ? policy() : dtype_policy_, true);
}

VariablePtr LayerBase::find_variable(std::string_view name) const {
  for (const VariablePtr& v : variables_) {
    if (v->name == name) return v;
  }
  return nullptr;
}

VariablePtr LayerBase::add_variable(Variable variable) {
  // Made by an initializer, as any tensor is, until now.
  if (const std::shared_ptr<Buffer>& bytes = variable.value.buffer()) bytes->set_owner(Owner::weights);
  variable.layer = name_;
  variables_.push_back(std::make_shared<Variable>(std::move(variable)));
  return variables_.back();
}

std::vector<VariablePtr> LayerBase::weights() const {
  return select(*this, [](const Variable& v, bool) { return !v.is_seed; });
}
std::vector<VariablePtr> LayerBase::trainable_weights() const {
  return select(*this, [](const Variable&, bool trains) { return trains; });
}
std::vector<VariablePtr> LayerBase::non_trainable_weights() const {
  return select(*this, [](const Variable& v, bool trains) { return !trains && !v.is_seed; });
}
std::vector<VariablePtr> LayerBase::all_variables() const {
  return select(*this, [](const Variable&, bool) { return true; });
}

std::vector<Tensor> LayerBase::get_weights() const {
  std::vector<Tensor> values;
  for (const VariablePtr& v : weights()) values.push_back(v->value.copy());
  return values;
}

void LayerBase::set_weights(std::span<const Tensor> values) {
  const std::vector<VariablePtr> own = weights();
  require(values.size() == own.size(), name_, "expected ", own.size(), " weights, got ", values.size());
  for (size_t i = 0; i < own.size(); ++i) {
    require(values[i].type() == own[i]->value.type(), name_, "weight ", i, " ('", own[i]->name,
            "') expected ", own[i]->value.type(), ", got ", values[i].type());
  }
  for (size_t i = 0; i < own.size(); ++i) assign(own[i]->value, values[i]);
}

int64_t LayerBase::count_params() const {
  int64_t count = 0;
  for (const VariablePtr& v : weights()) count += v->value.shape().elements();
  return count;
}

std::string snake_name(std::string_view class_name) {
  std::string snake;
  const auto at = [&](size_t i) { return i < class_name.size() ? class_name[i] : '\0'; };
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  for (size_t i = 0; i < class_name.size(); ++i) {
    const bool starts_word = upper(at(i)) && lower(at(i + 1)) && i > 0;
    const bool after_lower = upper(at(i)) && i > 0 && lower(at(i - 1));
    if ((starts_word || after_lower) && snake.back() != '_') snake += '_';
    snake += static_cast<char>(std::tolower(static_cast<unsigned char>(at(i))));
  }
  return snake;
}

std::string unique_layer_name(std::string_view class_name) {
  const std::string snake = snake_name(class_name);
  const int64_t number = name_counts()[snake]++;
  return number == 0 ? snake : concat(snake, "_", number);
}

void clear_session() {
  name_counts().clear();
  give_back_memory();
}

void set_dtype_policy(std::string name) {
  policy_dtype(name, false);
  policy() = std::move(name);
}
const std::string& global_dtype_policy() { return policy(); }

void Fields::operator()(std::string_view name, Layer& value) {
  std::shared_ptr<Configurable> inner = value.pointer();
  object(name, Family::layer, inner);
  if (inner != value.pointer()) value = Layer(std::static_pointer_cast<LayerBase>(inner));
}

Layer own_layer(std::shared_ptr<LayerBase> layer, std::string name, const PolicyName& dtype) {
  require(layer != nullptr, "layer", "expected a layer, got none");
  if (!dtype.empty()) layer->set_dtype_policy(dtype);
  layer->set_name(name.empty() ? unique_layer_name(layer->class_name()) : std::move(name));
  return Layer(std::move(layer));
}

}  // namespace plimsoll

#include "layers/base/operands.h"

#include "layers/base/json_parts.h"
#include "plimsoll/ops/math.h"

namespace plimsoll {
namespace {

using Json = ConfigJson;

// Numbers in nested lists, and their shape.
struct NestedNumbers {
  std::vector<double> values;
  Shape shape;
  bool all_integers = true, all_bools = true;

  // False if they are no such thing.
  bool add(const Json& value, int depth) {
    if (value.is_boolean() || value.is_number()) {
      all_integers = all_integers && !value.is_number_float();
      all_bools = all_bools && value.is_boolean();
      values.push_back(value.is_boolean() ? value.get<bool>() : value.get<double>());
      return true;
    }
    if (!value.is_array() || depth >= Shape::kMaxRank) return false;
    const auto size = static_cast<int64_t>(value.size());
    if (shape.rank() == depth) shape = shape.inserted(depth, size);
    if (shape[depth] != size) return false;
    for (const Json& part : value) {
      if (!add(part, depth + 1)) return false;
    }
    return true;
  }
};

// As Keras reads Python's numbers beside tensors of `beside`.
DType type_beside(const NestedNumbers& n, DType beside) {
  if (n.all_bools) return DType::boolean;
  if (is_float(beside) || is_complex(beside)) return beside;
  if (!n.all_integers) return DType::f32;
  return beside == DType::boolean ? DType::i32 : beside;
}

// Arrays of 64 bits are of 32 in a model, as Keras has it by default.
DType type_of_array(const NestedNumbers& n, const std::string& name) {
  const std::optional<DType> given = dtype_from_name(name);
  if (!given) return n.all_bools ? DType::boolean : n.all_integers ? DType::i32 : DType::f32;
  return *given == DType::f64 ? DType::f32 : *given == DType::i64 ? DType::i32 : *given;
}

}  // namespace

Tensor Operands::constant(const Json& value, std::string_view name) const {
  const std::string kind = text_of(value, "class_name");
  const Json* config = kind == "__numpy__" || kind == "__tensor__" ? find(value, "config") : nullptr;
  const Json* given = config ? find(*config, "value") : &value;
  NestedNumbers n;
  if (!given || !n.add(*given, 0) || std::ssize(n.values) != n.shape.elements()) missing(name);
  std::optional<DType> beside;
  for (const Tensor& x : xs_) {
    if (x.dtype() != DType::boolean) beside = beside ? promote(*beside, x.dtype()) : x.dtype();
  }
  const DType type = config || given->is_array() ? type_of_array(n, config ? text_of(*config, "dtype") : "")
                                                 : type_beside(n, beside.value_or(DType::boolean));
  if (!is_float(type) || type == DType::f64) return cast(Tensor::from<double>(n.values, n.shape), type);
  const std::vector<float> floats(n.values.begin(), n.values.end());
  return cast(Tensor::from<float>(floats, n.shape), type);
}

Tensor Operands::tensor(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  if (!value) missing(name);
  return marked_tensor(*value) ? marked(*value, name) : constant(*value, name);
}

std::vector<Tensor> Operands::tensors(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  if (!value || !value->is_array()) missing(name);
  std::vector<Tensor> all;
  for (const Json& part : *value)
    all.push_back(marked_tensor(part) ? marked(part, name) : constant(part, name));
  return all;
}

std::vector<Tensor> Operands::operands() const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < call_.args.size(); ++i) all.push_back(tensor(i, "operands"));
  return all;
}

const Json* Operands::option(size_t i, std::string_view name) const {
  if (i < call_.args.size() && !call_.args[i].is_null()) return &call_.args[i];
  if (const Json* value = find(call_.kwargs, name)) return value;
  return find(config_, name);
}

Ints Operands::ints(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  Ints list;
  if (!value) return list;
  for (const Json& n : value->is_array() ? *value : Json::array({*value})) {
    const std::optional<int64_t> given = n.is_null() ? -1 : int64_of(n);
    if (!given) missing(name);
    list.push_back(*given);
  }
  return list;
}

int64_t Operands::integer(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  const std::optional<int64_t> given = value ? int64_of(*value) : std::nullopt;
  if (!given) missing(name);
  return *given;
}

int Operands::axis(size_t i, std::string_view name, int otherwise) const {
  if (!option(i, name)) return otherwise;
  const int64_t given = integer(i, name);
  if (given < -Shape::kMaxRank || given > Shape::kMaxRank) missing(name);
  return static_cast<int>(given);
}

double Operands::real(size_t i, std::string_view name, double otherwise) const {
  const Json* value = option(i, name);
  if (!value) return otherwise;
  if (!value->is_number()) missing(name);
  return value->get<double>();
}

bool Operands::flag(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  return value && value->is_boolean() && value->get<bool>();
}

std::string Operands::text(size_t i, std::string_view name) const {
  const Json* value = option(i, name);
  if (!value) return {};
  if (!value->is_string()) missing(name);
  return value->get<std::string>();
}

DType Operands::dtype(size_t i, std::string_view name, DType otherwise) const {
  if (!option(i, name)) return otherwise;
  const std::optional<DType> given = dtype_from_name(text(i, name));
  if (!given) missing(name);
  return *given;
}

Tensor Operands::by_layer(std::string_view class_name, const Json& config, const Tensor& x) const {
  const Json json = {{"class_name", class_name}, {"config", config}};
  const auto layer = std::dynamic_pointer_cast<LayerBase>(object_from_json(Family::layer, json));
  layer->set_name(place());
  return layer->call(scope_, x);
}

Json Operands::kept(std::initializer_list<std::string_view> names) const {
  Json config = Json::object();
  for (const std::string_view name : names) {
    if (const Json* value = option(SIZE_MAX, name)) config[std::string(name)] = *value;
  }
  return config;
}

void Operands::missing(std::string_view name) const {
  fail(ErrorKind::bad_file, layer_.name(), layer_.class_name(), " was saved without a usable '", name, "'");
}

const Tensor& Operands::marked(const Json& json, std::string_view name) const {
  const std::optional<size_t> index = marked_tensor(json);
  if (!index || *index >= xs_.size()) missing(name);
  return xs_[*index];
}

}  // namespace plimsoll

#include "keras_io/operation.h"

#include <algorithm>
#include <map>

#include "keras_io/json_parts.h"
#include "plimsoll/activations.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::keras_io {
namespace {

// The operands and options of one call, wherever Keras keeps them: positional, by name, or in the config.
class Operands {
 public:
  Operands(const LayerBase& layer, const Json& config, const OperationCall& call, std::span<const Tensor> xs)
      : layer_(layer), config_(config), call_(call), xs_(xs) {}

  Tensor tensor(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    if (!value) missing(name);
    if (const Json* index = find(*value, "tensor")) return xs_[index->get<size_t>()];
    std::vector<float> numbers;
    Shape shape;
    collect(*value, name, numbers, shape, 0);
    return cast(Tensor::from<float>(numbers, shape), xs_.empty() ? DType::f32 : xs_[0].dtype());
  }
  std::vector<Tensor> tensors(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    if (!value || !value->is_array()) missing(name);
    std::vector<Tensor> all;
    for (const Json& part : *value) {
      const Json* index = find(part, "tensor");
      if (!index) missing(name);
      all.push_back(xs_[index->get<size_t>()]);
    }
    return all;
  }
  const Json* option(size_t i, std::string_view name) const { return find_operand(i, name); }
  Ints ints(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    Ints list;
    if (!value) return list;
    for (const Json& n : value->is_array() ? *value : Json::array({*value})) {
      if (!n.is_number_integer() && !n.is_null()) missing(name);
      list.push_back(n.is_null() ? -1 : n.get<int64_t>());
    }
    return list;
  }
  int64_t integer(size_t i, std::string_view name, int64_t otherwise) const {
    const Json* value = find_operand(i, name);
    if (!value) return otherwise;
    if (!value->is_number_integer()) missing(name);
    return value->get<int64_t>();
  }
  double real(size_t i, std::string_view name, double otherwise) const {
    const Json* value = find_operand(i, name);
    if (!value) return otherwise;
    if (!value->is_number()) missing(name);
    return value->get<double>();
  }
  bool flag(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    return value && value->is_boolean() && value->get<bool>();
  }
  [[noreturn]] void missing(std::string_view name) const {
    fail(ErrorKind::bad_file, layer_.name(), layer_.class_name(), " was saved without a usable '", name, "'");
  }

 private:
  const Json* find_operand(size_t i, std::string_view name) const {
    if (i < call_.args.size() && !call_.args[i].is_null()) return &call_.args[i];
    if (const Json* value = find(call_.kwargs, name)) return value;
    return find(config_, name);
  }
  void collect(const Json& value, std::string_view name, std::vector<float>& out, Shape& shape,
               int depth) const {
    if (value.is_number()) return out.push_back(value.get<float>());
    if (!value.is_array() || depth >= Shape::kMaxRank) missing(name);
    if (shape.rank() == depth) shape = shape.inserted(depth, static_cast<int64_t>(value.size()));
    if (shape[depth] != static_cast<int64_t>(value.size())) missing(name);
    for (const Json& part : value) collect(part, name, out, shape, depth + 1);
  }

  const LayerBase& layer_;
  const Json& config_;
  const OperationCall& call_;
  std::span<const Tensor> xs_;
};

// x[index], for integers, slices, None and Ellipsis.
Tensor get_item(const Operands& o) {
  Tensor x = o.tensor(0, "x");
  const Json* key = o.option(1, "key");
  if (!key) o.missing("key");
  const Json list = key->is_array() ? *key : Json::array({*key});
  const auto is_ellipsis = [](const Json& k) { return text_of(k, "class_name") == "__ellipsis__"; };
  const int64_t used =
      std::count_if(list.begin(), list.end(), [&](const Json& k) { return !k.is_null() && !is_ellipsis(k); });
  int axis = 0;
  for (const Json& k : list) {
    if (is_ellipsis(k)) {
      axis += static_cast<int>(x.rank() - axis - used);
    } else if (k.is_null()) {
      x = expand_dims(x, axis++);
    } else {
      if (axis < 0 || axis >= x.rank()) o.missing("key");
      const int64_t size = x.dim(axis);
      const Json* slice_of = find(k, "config");
      const auto bound = [&](std::string_view name, int64_t otherwise) {
        const Json* b = slice_of ? find(*slice_of, name) : nullptr;
        if (!b) return otherwise;
        if (!b->is_number_integer()) o.missing("key");
        const int64_t at = b->get<int64_t>();
        return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
      };
      Ints starts(static_cast<size_t>(x.rank()), 0), limits(x.shape().begin(), x.shape().end()),
          strides(starts.size(), 1);
      const auto a = static_cast<size_t>(axis);
      if (k.is_number_integer()) {
        const int64_t at = k.get<int64_t>();
        starts[a] = at < 0 ? at + size : at;
        limits[a] = starts[a] + 1;
        x = squeeze(slice(x, starts, limits), axis);
      } else if (slice_of) {
        const Json* step = find(*slice_of, "step");
        if (step && (!step->is_number_integer() || step->get<int64_t>() < 1))
          o.missing("key (with a step of 1 or more)");
        starts[a] = bound("start", 0);
        limits[a] = std::max(starts[a], bound("stop", size));
        strides[a] = step ? step->get<int64_t>() : 1;
        x = slice(x, starts, limits, strides);
        ++axis;
      } else {
        o.missing("key");
      }
    }
  }
  return x;
}

Tensor reshape_to(const Operands& o) {
  const Tensor x = o.tensor(0, "x");
  Ints sizes = o.ints(1, "newshape");
  int64_t known = 1;
  for (const int64_t n : sizes) known *= n < 0 ? 1 : n;
  for (int64_t& n : sizes) {
    if (n < 0) n = known > 0 ? x.shape().elements() / known : 0;
  }
  return reshape(x, sizes);
}

Tensor transpose_by(const Operands& o) {
  const Tensor x = o.tensor(0, "x");
  Ints axes = o.ints(1, "axes");
  if (axes.empty()) {
    for (int i = x.rank(); i-- > 0;) axes.push_back(i);
  }
  return transpose(x, axes);
}

Tensor cast_to(const Operands& o) {
  const Json* name = o.option(1, "dtype");
  const auto dtype = name && name->is_string() ? dtype_from_name(name->get<std::string>()) : std::nullopt;
  if (!dtype) o.missing("dtype");
  return cast(o.tensor(0, "x"), *dtype);
}

using Function = Tensor (*)(const Operands&);

template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor binary(const Operands& o) {
  return f(o.tensor(0, "x1"), o.tensor(1, "x2"));
}
template <Tensor (*f)(const Tensor&)>
Tensor unary(const Operands& o) {
  return f(o.tensor(0, "x"));
}
template <Tensor (*f)(const Tensor&, const Ints&, bool)>
Tensor reduction(const Operands& o) {
  return f(o.tensor(0, "x"), o.ints(1, "axis"), o.flag(2, "keepdims"));
}

const std::map<std::string, Function, std::less<>>& functions() {
  static const std::map<std::string, Function, std::less<>> all = {
      {"Add", binary<add>},
      {"Subtract", binary<subtract>},
      {"Multiply", binary<multiply>},
      {"Divide", binary<divide>},
      {"TrueDivide", binary<divide>},
      {"FloorDivide", binary<floor_divide>},
      {"Mod", binary<mod>},
      {"Power", binary<power>},
      {"Maximum", binary<maximum>},
      {"Minimum", binary<minimum>},
      {"Matmul", binary<matmul>},
      {"Equal", binary<equal>},
      {"NotEqual", binary<not_equal>},
      {"Less", binary<less>},
      {"LessEqual", binary<less_equal>},
      {"Greater", binary<greater>},
      {"GreaterEqual", binary<greater_equal>},
      {"LogicalAnd", binary<bitwise_and>},
      {"LogicalOr", binary<bitwise_or>},
      {"LogicalNot", unary<logical_not>},
      {"Any", reduction<any>},
      {"All", reduction<plimsoll::all>},
      {"Negative", unary<negative>},
      {"Absolute", unary<absolute>},
      {"Abs", unary<absolute>},
      {"Square", unary<square>},
      {"Sqrt", unary<sqrt>},
      {"Rsqrt", unary<rsqrt>},
      {"Exp", unary<exp>},
      {"Log", unary<log>},
      {"Sin", unary<sin>},
      {"Cos", unary<cos>},
      {"Tanh", unary<tanh>},
      {"Sigmoid", unary<sigmoid>},
      {"Relu", unary<relu>},
      {"Relu6", unary<relu6>},
      {"Silu", unary<silu>},
      {"Selu", unary<selu>},
      {"Softplus", unary<softplus>},
      {"HardSigmoid", unary<hard_sigmoid>},
      {"HardSilu", unary<hard_silu>},
      {"Elu", [](const Operands& o) { return elu(o.tensor(0, "x"), o.real(1, "alpha", 1)); }},
      {"LeakyRelu",
       [](const Operands& o) { return leaky_relu(o.tensor(0, "x"), o.real(1, "negative_slope", 0.2)); }},
      {"Gelu",
       [](const Operands& o) {
         const Json* given = o.option(1, "approximate");
         return gelu(o.tensor(0, "x"), !given || o.flag(1, "approximate"));
       }},
      {"Softmax",
       [](const Operands& o) {
         return softmax(o.tensor(0, "x"), static_cast<int>(o.integer(1, "axis", -1)));
       }},
      {"Mean", reduction<mean>},
      {"Sum", reduction<sum>},
      {"Max", reduction<max>},
      {"Min", reduction<min>},
      {"Clip",
       [](const Operands& o) {
         return clip(o.tensor(0, "x"), o.real(1, "x_min", 0), o.real(2, "x_max", 0));
       }},
      {"Concatenate",
       [](const Operands& o) {
         const std::vector<Tensor> parts = o.tensors(0, "xs");
         return concatenate(parts, static_cast<int>(o.integer(1, "axis", 0)));
       }},
      {"ExpandDims",
       [](const Operands& o) {
         return expand_dims(o.tensor(0, "x"), static_cast<int>(o.integer(1, "axis", 0)));
       }},
      {"Squeeze",
       [](const Operands& o) {
         return squeeze(o.tensor(0, "x"), static_cast<int>(o.integer(1, "axis", -1)));
       }},
      {"Reshape", reshape_to},
      {"Transpose", transpose_by},
      {"Cast", cast_to},
      {"GetItem", get_item},
  };
  return all;
}

}  // namespace

bool is_operation(const Json& layer) { return text_of(layer, "module").find(".ops.") != std::string::npos; }

Operation::Operation(const Json& layer, OperationCall call)
    : module_(text_of(layer, "module")), class_name_(text_of(layer, "class_name")), call_(std::move(call)) {
  if (const Json* config = find(layer, "config")) config_ = *config;
  set_name(text_of(config_, "name"));
  if (name().empty()) set_name(text_of(layer, "name"));
  if (functions().count(class_name_) == 0) {
    fail(ErrorKind::unsupported, name(), "the function ", module_, ".", class_name_,
         " is not known; register a C++ layer in its place, or cut the model before it");
  }
}

std::vector<Tensor> Operation::call_many(Scope&, std::span<const Tensor> xs) {
  return {functions().at(class_name_)(Operands(*this, config_, call_, xs))};
}

Json Operation::to_json() const {
  Json config = config_.is_object() ? config_ : Json::object();
  config["name"] = name();
  return {
      {"module", module_}, {"class_name", class_name_}, {"config", config}, {"registered_name", class_name_}};
}

}  // namespace plimsoll::keras_io

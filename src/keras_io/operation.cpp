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
    if (marked_tensor(*value)) return marked(*value, name);
    std::vector<float> numbers;
    Shape shape;
    collect(*value, name, numbers, shape, 0);
    if (std::ssize(numbers) != shape.elements()) missing(name);
    return cast(Tensor::from<float>(numbers, shape), xs_.empty() ? DType::f32 : xs_[0].dtype());
  }
  std::vector<Tensor> tensors(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    if (!value || !value->is_array()) missing(name);
    std::vector<Tensor> all;
    for (const Json& part : *value) all.push_back(marked(part, name));
    return all;
  }
  const Json* option(size_t i, std::string_view name) const { return find_operand(i, name); }
  Ints ints(size_t i, std::string_view name) const {
    const Json* value = find_operand(i, name);
    Ints list;
    if (!value) return list;
    for (const Json& n : value->is_array() ? *value : Json::array({*value})) {
      const std::optional<int64_t> given = n.is_null() ? -1 : int64_of(n);
      if (!given) missing(name);
      list.push_back(*given);
    }
    return list;
  }
  int axis(size_t i, std::string_view name, int otherwise) const {
    const Json* value = find_operand(i, name);
    if (!value) return otherwise;
    const std::optional<int64_t> given = int64_of(*value);
    if (!given || *given < -Shape::kMaxRank || *given > Shape::kMaxRank) missing(name);
    return static_cast<int>(*given);
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
  const Tensor& marked(const Json& json, std::string_view name) const {
    const std::optional<size_t> index = marked_tensor(json);
    if (!index || *index >= xs_.size()) missing(name);
    return xs_[*index];
  }
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

// One axis of x[index].
struct AxisRange {
  int64_t start, limit, stride = 1;
  bool drops_axis = false;
};

AxisRange range_of(const Operands& o, const Json& key, int64_t size) {
  const auto from_start = [&](int64_t at) { return at < 0 ? at + size : at; };
  if (key.is_number_integer()) {
    const std::optional<int64_t> at = int64_of(key);
    if (!at || from_start(*at) < 0 || from_start(*at) >= size) o.missing("key");
    return {from_start(*at), from_start(*at) + 1, 1, true};
  }
  const Json* slice_of = find(key, "config");
  if (!slice_of) o.missing("key");
  const auto bound = [&](std::string_view name, int64_t otherwise) {
    const Json* given = find(*slice_of, name);
    if (!given) return otherwise;
    const std::optional<int64_t> at = int64_of(*given);
    if (!at) o.missing("key");
    return *at;
  };
  AxisRange range{std::clamp<int64_t>(from_start(bound("start", 0)), 0, size),
                  std::clamp<int64_t>(from_start(bound("stop", size)), 0, size), bound("step", 1)};
  if (range.stride < 1) o.missing("key (with a step of 1 or more)");
  range.limit = std::max(range.start, range.limit);
  return range;
}

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
      continue;
    }
    if (axis < 0 || axis > x.rank()) o.missing("key");
    if (k.is_null()) {
      x = expand_dims(x, axis++);
      continue;
    }
    if (axis == x.rank()) o.missing("key");
    const AxisRange range = range_of(o, k, x.dim(axis));
    Ints starts(static_cast<size_t>(x.rank()), 0), limits(x.shape().begin(), x.shape().end()),
        strides(starts.size(), 1);
    const auto a = static_cast<size_t>(axis);
    starts[a] = range.start, limits[a] = range.limit, strides[a] = range.stride;
    x = slice(x, starts, limits, strides);
    if (range.drops_axis)
      x = squeeze(x, axis);
    else
      ++axis;
  }
  return x;
}

Tensor reshape_to(const Operands& o) {
  const Tensor x = o.tensor(0, "x");
  Ints sizes = o.ints(1, "newshape");
  int64_t known = 1;
  for (const int64_t n : sizes) known = checked_mul(known, n < 0 ? 1 : n, "Reshape");
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
      {"Softmax", [](const Operands& o) { return softmax(o.tensor(0, "x"), o.axis(1, "axis", -1)); }},
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
         return concatenate(parts, o.axis(1, "axis", 0));
       }},
      {"ExpandDims", [](const Operands& o) { return expand_dims(o.tensor(0, "x"), o.axis(1, "axis", 0)); }},
      {"Squeeze", [](const Operands& o) { return squeeze(o.tensor(0, "x"), o.axis(1, "axis", -1)); }},
      {"Reshape", reshape_to},
      {"Transpose", transpose_by},
      {"Cast", cast_to},
      {"GetItem", get_item},
  };
  return all;
}

}  // namespace

Json tensor_mark(size_t i) { return Json::binary({}, i); }

std::optional<size_t> marked_tensor(const Json& json) {
  if (!json.is_binary()) return {};
  return json.get_binary().subtype();
}

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

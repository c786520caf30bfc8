// The functions of keras.ops that a model file may call, by the names of Keras's classes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/base/einsum.h"
#include "layers/base/json_parts.h"
#include "layers/base/operation_tables.h"
#include "plimsoll/activations.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/order.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

using namespace operation;

// ---- numbers -----------------------------------------------------------------------------------

Tensor filled(const Operands& o, const Tensor& value) {
  const Tensor x = x_of(o);
  return broadcast_to(cast(value, o.dtype(2, "dtype", x.dtype())), x.shape());
}
template <int n>
Tensor filled_with(const Operands& o) {
  return filled(o, Tensor::full(DType::f32, {}, n));
}

Tensor arg_of(const Operands& o, Tensor (*f)(const Tensor&, int, bool)) {
  int axis = 0;
  const Tensor x = flat_unless_axis(o, axis);
  return f(x, axis, o.option(1, "axis") && o.flag(2, "keepdims"));
}

// The largest or smallest, and of `initial` too.
template <Tensor (*reduce)(const Tensor&, const Ints&, bool), Tensor (*combine)(const Tensor&, const Tensor&)>
Tensor extreme(const Operands& o) {
  const Tensor y = reduce(x_of(o), o.ints(1, "axis"), o.flag(2, "keepdims"));
  return o.option(3, "initial") ? combine(y, o.tensor(3, "initial")) : y;
}

Tensor softmax_of(const Operands& o) {
  const Tensor x = x_of(o);
  const Json* given = o.option(1, "axis");
  if (!given || !given->is_array()) return softmax(x, o.axis(1, "axis", -1));
  const Ints axes = o.ints(1, "axis");
  const Tensor e = exp(subtract(x, max(x, axes, true)));
  return divide(e, sum(e, axes, true));
}

Tensor log_sum_exp(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Ints axes = o.ints(1, "axis");
  const Tensor most = max(x, axes, true);
  const Tensor total = log(sum(exp(subtract(x, most)), axes, true));
  const Tensor y = add(total, most);
  return o.flag(2, "keepdims") ? y : sum(y, axes, false);
}

Tensor normalize(const Operands& o) {
  const Tensor x = to_float(x_of(o));
  const Ints axes = o.option(1, "axis") ? o.ints(1, "axis") : Ints{-1};
  const double epsilon = o.real(3, "epsilon", 1e-7);
  const double order = o.real(2, "order", 2);
  if (order != 2) {
    if (!(order > 0)) o.missing("order");
    const Tensor size = std::isinf(order) ? max(absolute(x), axes, true)
                        : order == 1      ? sum(absolute(x), axes, true)
                                          : power(sum(power(absolute(x), scalar_like(x, order)), axes, true),
                                                  scalar_like(x, 1 / order));
    return divide(x, maximum(size, scalar_like(size, epsilon)));
  }
  const Tensor scale = rsqrt(sum(square(x), axes, true));
  return multiply(x, minimum(scale, scalar_like(scale, 1 / epsilon)));
}

Tensor gated(const Operands& o) {
  const Tensor x = x_of(o);
  const int axis = from_front(o, o.axis(1, "axis", -1), x.rank());
  const int64_t half = x.shape()[axis] / 2;
  return multiply(part_of(x, axis, 0, half), sigmoid(part_of(x, axis, half, 2 * half)));
}

Tensor truncate(const Tensor& x) { return where(less(x, scalar_like(x, 0)), ceil(x), floor(x)); }
Tensor is_nan(const Tensor& x) { return not_equal(x, x); }
Tensor is_inf(const Tensor& x) {
  const Tensor y = to_float(x);
  return equal(absolute(y), scalar_like(y, std::numeric_limits<double>::infinity()));
}
Tensor log_base(const Tensor& x, double base) {
  const Tensor y = log(x);
  return divide(y, scalar_like(y, std::log(base)));
}

// ---- products ----------------------------------------------------------------------------------

// Sums over the letters that are not wanted.
Tensor keep_letters(const Tensor& x, std::string& letters, const std::string& wanted) {
  Ints gone;
  std::string kept;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (wanted.find(letters[i]) == std::string::npos)
      gone.push_back(static_cast<int64_t>(i));
    else
      kept += letters[i];
  }
  letters = kept;
  return gone.empty() ? x : sum(x, gone);
}

// The letters of each operand and, last, of the result. Axes under "..." are digits, counted from the last.
std::vector<std::string> letters_of(const Operands& o, std::string text, const Tensors& xs) {
  constexpr std::string_view kDigits = "0123456789";
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = std::min(text.find("->"), text.size());
  std::vector<std::string> all(1);
  for (const char c : text.substr(0, arrow)) c == ',' ? all.emplace_back() : all.back() += c;
  if (xs.empty() || all.size() != xs.size()) o.missing("subscripts");
  all.push_back(arrow == text.size() ? "" : text.substr(arrow + 2));
  size_t widest = 0;
  std::map<char, int> uses;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].find_first_of(kDigits) != std::string::npos) o.missing("subscripts");
    const size_t dots = all[i].find("...");
    if (dots != std::string::npos) {
      const int64_t under = i < xs.size() ? xs[i].rank() - std::ssize(all[i]) + 3 : std::ssize(all[i]);
      if (under < 0) o.missing("subscripts");
      const size_t count = i < xs.size() ? static_cast<size_t>(under) : widest;
      widest = std::max(widest, count);
      all[i].replace(dots, 3, kDigits.substr(kDigits.size() - count));
    }
    if (all[i].find_first_of(".,->") != std::string::npos) o.missing("subscripts");
    if (i < xs.size() && std::ssize(all[i]) != xs[i].rank()) o.missing("subscripts");
    if (i < xs.size())
      for (const char c : all[i]) ++uses[c];
  }
  if (arrow < text.size()) return all;
  for (const auto& [letter, count] : uses) {  // digits come first; the rest as in the alphabet
    if (count == 1 || kDigits.find(letter) != std::string_view::npos) all.back() += letter;
  }
  return all;
}

std::string join(const std::vector<std::string>& parts, size_t from) {
  std::string all;
  for (size_t i = from; i < parts.size(); ++i) all += parts[i];
  return all;
}

Tensor einsum_of(const Operands& o) {
  const Json* given = o.option(SIZE_MAX, "subscripts");
  if (!given || !given->is_string()) o.missing("subscripts");
  const Tensors xs = o.operands();
  std::vector<std::string> letters = letters_of(o, given->get<std::string>(), xs);
  const std::string out = letters.back();
  std::string a = letters[0];
  Tensor y = xs[0];
  for (size_t i = 1; i < xs.size(); ++i) {  // two at a time, from the left
    std::string b = letters[i];
    const std::string later = join(letters, i + 1);
    const Tensor left = keep_letters(y, a, later + b), right = keep_letters(xs[i], b, later + a);
    std::string made = i + 1 == xs.size() ? out : "";
    for (const char c : i + 1 == xs.size() ? std::string() : a + b) {
      if (made.find(c) == std::string::npos && later.find(c) != std::string::npos) made += c;
    }
    y = einsum(a + "," + b + "->" + made, left, right, o.place());
    a = made;
  }
  y = keep_letters(y, a, out);
  Ints order;
  for (const char c : out) {
    if (a.find(c) == std::string::npos) o.missing("subscripts");
    order.push_back(static_cast<int64_t>(a.find(c)));
  }
  return transpose(y, order);
}

Tensor tensor_dot(const Operands& o) {
  const Tensor a = o.tensor(0, "x1"), b = o.tensor(1, "x2");
  const Json* axes = o.option(2, "axes");
  Ints left, right;
  if (axes && axes->is_array()) {
    if (axes->size() != 2) o.missing("axes");
    for (const bool second : {false, true}) {
      for (const Json& n : (*axes)[second].is_array() ? (*axes)[second] : Json::array({(*axes)[second]})) {
        if (!int64_of(n)) o.missing("axes");
        const Tensor& x = second ? b : a;
        (second ? right : left).push_back(from_front(o, *int64_of(n), x.rank()));
      }
    }
  } else {
    const int64_t count = axes ? o.integer(2, "axes") : 2;
    if (count < 0 || count > std::min(a.rank(), b.rank())) o.missing("axes");
    for (int64_t i = 0; i < count; ++i) {
      left.push_back(a.rank() - count + i);
      right.push_back(i);
    }
  }
  return dot_general(a, b, left, right, {}, {});
}

Tensor dot_of(const Operands& o) {
  const Tensor a = o.tensor(0, "x1"), b = o.tensor(1, "x2");
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  return dot_general(a, b, {a.rank() - 1}, {std::max(0, b.rank() - 2)}, {}, {});
}

// ---- the table ---------------------------------------------------------------------------------

template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor binary(const Operands& o) {
  return f(o.tensor(0, "x1"), o.tensor(1, "x2"));
}
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor logical(const Operands& o) {
  return f(to_bool(o.tensor(0, "x1")), to_bool(o.tensor(1, "x2")));
}
template <Tensor (*f)(const Tensor&)>
Tensor unary(const Operands& o) {
  return f(x_of(o));
}
template <Tensor (*f)(const Tensor&, const Ints&, bool)>
Tensor reduction(const Operands& o) {
  return f(x_of(o), o.ints(1, "axis"), o.flag(2, "keepdims"));
}
template <Tensor (*f)(const Tensor&, const Ints&, bool)>
Tensor logical_reduction(const Operands& o) {
  return f(to_bool(x_of(o)), o.ints(1, "axis"), o.flag(2, "keepdims"));
}
template <Tensor (*f)(const Tensor&, int, bool)>
Tensor along(const Operands& o) {
  int axis = 0;
  const Tensor x = flat_unless_axis(o, axis);
  return f(x, axis, false);
}
template <Tensor (*f)(const Tensor&, int)>
Tensor ordered(const Operands& o) {
  return f(x_of(o), o.axis(1, "axis", -1));
}

const Functions& usual_functions() {
  static const Functions all_functions = {
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
      {"Arctan2", binary<arctan2>},
      {"Matmul", binary<matmul>},
      {"Dot", dot_of},
      {"Tensordot", tensor_dot},
      {"Einsum", einsum_of},
      {"Equal", binary<equal>},
      {"NotEqual", binary<not_equal>},
      {"Less", binary<less>},
      {"LessEqual", binary<less_equal>},
      {"Greater", binary<greater>},
      {"GreaterEqual", binary<greater_equal>},
      {"LogicalAnd", logical<bitwise_and>},
      {"LogicalOr", logical<bitwise_or>},
      {"LogicalXor", logical<bitwise_xor>},
      {"LogicalNot", [](const Operands& o) { return logical_not(to_bool(x_of(o))); }},
      {"Where",
       [](const Operands& o) {
         return where(to_bool(o.tensor(0, "condition")), o.tensor(1, "x1"), o.tensor(2, "x2"));
       }},
      {"Any", logical_reduction<any>},
      {"All", logical_reduction<plimsoll::all>},
      {"Negative", unary<negative>},
      {"Absolute", unary<absolute>},
      {"Abs", unary<absolute>},
      {"Sign", unary<sign>},
      {"Floor", unary<floor>},
      {"Ceil", unary<ceil>},
      {"Trunc", unary<truncate>},
      {"Square", unary<square>},
      {"Sqrt", unary<sqrt>},
      {"Rsqrt", unary<rsqrt>},
      {"Reciprocal", unary<reciprocal>},
      {"Exp", unary<exp>},
      {"Expm1", unary<expm1>},
      {"Log", unary<log>},
      {"Log1p", unary<log1p>},
      {"Log2", [](const Operands& o) { return log_base(x_of(o), 2); }},
      {"Log10", [](const Operands& o) { return log_base(x_of(o), 10); }},
      {"Sin", unary<sin>},
      {"Cos", unary<cos>},
      {"Tan", unary<tan>},
      {"Arcsin", unary<arcsin>},
      {"Arccos", unary<arccos>},
      {"Arctan", unary<arctan>},
      {"Sinh", unary<sinh>},
      {"Cosh", unary<cosh>},
      {"Tanh", unary<tanh>},
      {"Arcsinh", unary<arcsinh>},
      {"Arccosh", unary<arccosh>},
      {"Arctanh", unary<arctanh>},
      {"Erf", unary<erf>},
      {"Erfinv", unary<erfinv>},
      {"Isfinite", unary<isfinite>},
      {"Isnan", unary<is_nan>},
      {"Isinf", unary<is_inf>},
      {"StopGradient",
       [](const Operands& o) { return stop_gradient(o.tensor(0, o.option(0, "x") ? "x" : "variable")); }},
      {"Sigmoid", unary<sigmoid>},
      {"Relu", unary<relu>},
      {"Relu6", unary<relu6>},
      {"Silu", unary<silu>},
      {"Selu", unary<selu>},
      {"Softplus", unary<softplus>},
      {"HardSigmoid", unary<hard_sigmoid>},
      {"HardSilu", unary<hard_silu>},
      {"Softsign", [](const Operands& o) { return activate("softsign", x_of(o)); }},
      {"LogSigmoid", [](const Operands& o) { return activate("log_sigmoid", x_of(o)); }},
      {"HardTanh", [](const Operands& o) { return activate("hard_tanh", x_of(o)); }},
      {"TanhShrink", [](const Operands& o) { return activate("tanh_shrink", x_of(o)); }},
      {"SparsePlus", [](const Operands& o) { return activate("sparse_plus", x_of(o)); }},
      {"SparseSigmoid", [](const Operands& o) { return activate("sparse_sigmoid", x_of(o)); }},
      {"Glu", gated},
      {"Elu", [](const Operands& o) { return elu(x_of(o), o.real(1, "alpha", 1)); }},
      {"LeakyRelu", [](const Operands& o) { return leaky_relu(x_of(o), o.real(1, "negative_slope", 0.2)); }},
      {"Gelu",
       [](const Operands& o) {
         const Json* given = o.option(1, "approximate");
         return gelu(x_of(o), !given || o.flag(1, "approximate"));
       }},
      {"Softmax", softmax_of},
      {"LogSoftmax", ordered<log_softmax>},
      {"Normalize", normalize},
      {"Mean", reduction<mean>},
      {"Sum", reduction<sum>},
      {"Prod", reduction<prod>},
      {"Max", extreme<max, maximum>},
      {"Min", extreme<min, minimum>},
      {"Amax", reduction<max>},
      {"Amin", reduction<min>},
      {"Var",
       [](const Operands& o) {
         return variance(to_float(x_of(o)), o.ints(1, "axis"), o.flag(2, "keepdims"));
       }},
      {"Std",
       [](const Operands& o) {
         return sqrt(variance(to_float(x_of(o)), o.ints(1, "axis"), o.flag(2, "keepdims")));
       }},
      {"Logsumexp", log_sum_exp},
      {"CountNonzero",
       [](const Operands& o) { return sum(cast(to_bool(x_of(o)), DType::i32), o.ints(1, "axis")); }},
      {"Argmax", [](const Operands& o) { return arg_of(o, argmax); }},
      {"Argmin", [](const Operands& o) { return arg_of(o, argmin); }},
      {"Cumsum", along<cumsum>},
      {"Cumprod", along<cumprod>},
      {"Sort", ordered<sort>},
      {"Argsort", ordered<argsort>},
      {"Clip",
       [](const Operands& o) {
         return minimum(maximum(x_of(o), o.tensor(1, "x_min")), o.tensor(2, "x_max"));
       }},
      {"ZerosLike", filled_with<0>},
      {"OnesLike", filled_with<1>},
      {"FullLike", [](const Operands& o) { return filled(o, o.tensor(1, "fill_value")); }},
      {"OneHot",
       [](const Operands& o) {
         if (o.axis(2, "axis", -1) != -1 || o.flag(4, "sparse")) unsupported(o, "one_hot along another axis");
         return one_hot(cast(x_of(o), DType::i32), o.integer(1, "num_classes"),
                        o.dtype(3, "dtype", DType::f32));
       }},
      {"Concatenate",
       [](const Operands& o) {
         const Tensors parts = o.tensors(0, "xs");
         return concatenate(parts, o.axis(1, "axis", 0));
       }},
      {"Stack", stack},
      {"ExpandDims", expand},
      {"Squeeze", squeeze_out},
      {"Ravel", [](const Operands& o) { return flat(x_of(o)); }},
      {"Reshape", reshape_to},
      {"Transpose", transpose_by},
      {"Swapaxes", swap_axes},
      {"Moveaxis", move_axes},
      {"Repeat", repeat},
      {"Tile", tile},
      {"Flip", flip},
      {"Roll", roll},
      {"Pad", pad_with},
      {"Take", take_of},
      {"Slice", slice_of},
      {"Cast",
       [](const Operands& o) {
         if (!o.option(1, "dtype")) o.missing("dtype");
         return cast(x_of(o), o.dtype(1, "dtype", DType::f32));
       }},
      {"ConvertToTensor",
       [](const Operands& o) { return cast(x_of(o), o.dtype(1, "dtype", x_of(o).dtype())); }},
      {"GetItem", get_item},
  };
  return all_functions;
}

const ManyFunctions& usual_many_functions() {
  static const ManyFunctions all_functions = {
      {"TopK", [](const Operands& o) { return top_k(x_of(o), o.integer(1, "k")); }},
  };
  return all_functions;
}

Function function_of(std::string_view class_name) {
  for (const auto table : {usual_functions, number_functions, statistic_functions, layout_functions,
                           image_functions, network_functions, rare_functions, algebra_functions}) {
    if (const auto found = table().find(class_name); found != table().end()) return found->second;
  }
  return nullptr;
}
// Those of several results.
ManyFunction many_function_of(std::string_view class_name) {
  for (const auto table :
       {usual_many_functions, split_functions, rare_many_functions, algebra_many_functions}) {
    if (const auto found = table().find(class_name); found != table().end()) return found->second;
  }
  return nullptr;
}

}  // namespace

Tensors call_operation(std::string_view class_name, const Operands& o) {
  if (const Function f = function_of(class_name)) return {f(o)};
  return many_function_of(class_name)(o);
}

bool has_operation(std::string_view class_name) {
  return function_of(class_name) || many_function_of(class_name);
}

}  // namespace plimsoll

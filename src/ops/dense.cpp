// dense(x, kernel, bias): act(x . kernel + bias) over the last axis of x, with bias and activation
// applied while the result is in cache. x (..., k), kernel (k, n), bias (n).
#include "device/cpu/activation.h"
#include "device/cpu/contraction.h"
#include "device/kernel.h"
#include "graph/grad.h"
#include "graph/op.h"
#include "graph/rows.h"
#include "ops/activate.h"
#include "ops/float_ops.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/linalg.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"

namespace plimsoll {
namespace {

Activation activation_of(const Attrs& attrs) {
  const std::string& name = attrs.string("activation");
  const std::optional<Activation> activation = activation_from_name(name);
  require(activation.has_value(), "dense",
          "expected activation linear, relu, sigmoid, tanh, gelu, gelu_tanh or silu, got '", name, "'");
  return *activation;
}

std::vector<TensorType> infer(const OpCall& call) {
  const TensorType &x = call.in[0], &kernel = call.in[1], &bias = call.in[2];
  require(is_float(x.dtype) && x.dtype == kernel.dtype && x.dtype == bias.dtype, "dense",
          "expected x, kernel and bias of one float dtype, got ", x, ", ", kernel, " and ", bias);
  require(x.shape.rank() >= 1, "dense", "expected x with at least one axis, got ", x);
  require(kernel.shape.rank() == 2 && kernel.shape[0] == x.shape.dim(-1), "dense",
          "expected a kernel of shape (", x.shape.dim(-1), ", units) for x ", x, ", got ", kernel);
  require(bias.shape == Shape{kernel.shape[1]}, "dense", "expected a bias of shape ", Shape{kernel.shape[1]},
          ", got ", bias);
  activation_of(call.attrs);
  return {{x.dtype, x.shape.with(x.shape.rank() - 1, kernel.shape[1])}};
}

std::vector<Tensor> decompose(std::span<const Tensor> in, const Attrs& attrs) {
  const Tensor product = dot_general(in[0], in[1], {in[0].rank() - 1}, {0});
  return {activate(add(product, in[2]), activation_of(attrs))};
}

void grad(GradContext& g) {
  const Tensor dz = through_activation(activation_of(g.attrs()), g.out(), g.dout(), [&] {
    return apply1(get_op("dense"), {g.in(0), g.in(1), g.in(2)}, {{"activation", std::string("linear")}});
  });
  const int last = g.in(0).rank() - 1;
  Ints leading(static_cast<size_t>(last));
  for (int i = 0; i < last; ++i) leading[static_cast<size_t>(i)] = i;
  if (g.wants(0)) g.set(0, dot_general(dz, g.in(1), {last}, {1}));
  if (g.wants(1)) g.set(1, dot_general(g.in(0), dz, leading, leading));
  if (g.wants(2)) g.set(2, leading.empty() ? dz : sum(dz, leading));
}

Kernel prepare_highway(const KernelQuery& q) {
  const Activation activation = activation_of(q.attrs);
  ContractionEpilogue epilogue;
  epilogue.bias = true;
  epilogue.relu = activation == Activation::relu;
  if (!epilogue.relu) epilogue.post = activation_kernel(activation, wide_type(q.in[0].dtype));
  const Ints last = {q.in[0].shape.rank() - 1}, first = {0};
  return prepare_contraction(q, {last, first, {}, {}}, epilogue);
}

bool fits_onednn(const KernelQuery& q) {
  const Ints last = {q.in[0].shape.rank() - 1}, first = {0};
  return contraction_fits_onednn(q, {last, first, {}, {}});
}
Kernel prepare_onednn(const KernelQuery& q) {
  const Ints last = {q.in[0].shape.rank() - 1}, first = {0};
  return prepare_contraction_onednn(q, {last, first, {}, {}}, true, activation_of(q.attrs));
}

constexpr KernelDef kKernels[] = {{.name = "onednn", .fits = fits_onednn, .prepare = prepare_onednn},
                                  {.name = "highway", .prepare = prepare_highway}};

Cost cost(const OpCall& call, std::span<const TensorType> out) {
  const auto elements = [](const TensorType& t) { return static_cast<double>(t.shape.elements()); };
  return {.flops = 2 * elements(out[0]) * static_cast<double>(call.in[1].shape[0]),
          .bytes = static_cast<double>(size_of(out[0].dtype)) *
                   (elements(call.in[0]) + elements(call.in[1]) + elements(call.in[2]) + elements(out[0]))};
}

std::optional<RowSplit> rows(const RowQuery& q) {
  const bool of_x = q.given == 0 || !q.is_input();
  if (!of_x || q.rows.axis + 1 == q.call.in[0].shape.rank()) return std::nullopt;
  return RowSplit{{q.rows, {}, {}}, {q.rows}};
}

std::vector<OpCase> cases() {
  std::vector<OpCase> out;
  for (const char* activation : {"linear", "relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu"}) {
    const Attrs attrs = {{"activation", std::string(activation)}};
    out.push_back({.in = {{.shape = {5, 7}}, {.shape = {7, 3}}, {.shape = {3}}}, .attrs = attrs});
  }
  const Attrs relu = {{"activation", std::string("relu")}};
  out.push_back({.in = {{.shape = {7}}, {.shape = {7, 3}}, {.shape = {3}}}, .attrs = relu});
  out.push_back({.in = {{.shape = {2, 3, 7}}, {.shape = {7, 33}}, {.shape = {33}}}, .attrs = relu});
  out.push_back({.in = {{.shape = {33, 65}}, {.shape = {65, 1}}, {.shape = {1}}}, .attrs = relu});
  out.push_back({.in = {{.shape = {0, 7}}, {.shape = {7, 3}}, {.shape = {3}}}, .attrs = relu});
  out.push_back({.in = {{.shape = {4, 0}}, {.shape = {0, 3}}, {.shape = {3}}}, .attrs = relu});
  return out;
}

constexpr AttrDef kAttrs[] = {{"activation", AttrKind::string, "\"linear\""}};

}  // namespace

std::span<const OpDef> ops_dense() {
  static const OpDef defs[] = {
      {.name = "dense",
       .arity = {3, 3},
       .attrs = kAttrs,
       .infer = infer,
       .grad = grad,
       .decompose = decompose,
       .kernels = kKernels,
       .cost = cost,
       .rows = rows,
       .cases = cases,
       .dtypes = kFloats,
       .tolerance = 1e-5},  // sums of up to 65 products
  };
  return defs;
}

Tensor dense(const Tensor& x, const Tensor& kernel, const Tensor& bias, std::string_view activation) {
  const OpDef& op = get_op("dense");
  // The gradients of these need the value before the activation. Built apart it is kept for them; where
  // nothing else needs it, a pass puts the two together.
  const std::optional<Activation> known = activation_from_name(activation);
  if (known && !known_from_result(*known))
    return activate(apply1(op, {x, kernel, bias}, {{"activation", std::string("linear")}}), *known);
  return apply1(op, {x, kernel, bias}, {{"activation", std::string(activation)}});
}

}  // namespace plimsoll

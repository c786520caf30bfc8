// Functions of keras.ops.nn that do what layers do: convolutions, pools, normalizations, attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "layers/base/conv_parts.h"
#include "layers/base/einsum.h"
#include "layers/base/operation_tables.h"
#include "layers/base/parts.h"
#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll::operation {
namespace {

constexpr double kEpsilon = 1e-7;  // Keras's backend.epsilon()

// ---- convolutions and pools --------------------------------------------------------------------

std::string format_of(const Operands& o) {
  const std::string given = o.text(SIZE_MAX, "data_format");
  return given.empty() ? "channels_last" : given;
}

// Of all axes: one number, or one for each.
Dims dims_of(const Operands& o, std::string_view name) {
  Ints given = o.ints(SIZE_MAX, name);
  return given.empty() ? Dims(1) : Dims(std::move(given));
}

// x has its channels last; the kernel is (window..., channels of a group, filters).
Tensor convolved(const Operands& o, const Tensor& x, const Tensor& kernel) {
  const int rank = x.rank() - 2;
  if (rank < 1 || kernel.rank() != rank + 2 || kernel.dim(-2) < 1 || x.dim(-1) % kernel.dim(-2) != 0)
    o.missing("kernel");
  Ints size;
  for (int i = 0; i < rank; ++i) size.push_back(kernel.dim(i));
  ConvWindow w{size, dims_of(o, "strides").of_rank(rank, o.place()),
               dims_of(o, "dilation_rate").of_rank(rank, o.place())};
  const std::string given = o.text(SIZE_MAX, "padding"), padding = given.empty() ? "valid" : given;
  check_choice(o.place(), "padding", padding, {"valid", "same", "causal"});
  for (size_t i = 0; i < size.size(); ++i) {
    if (w.strides[i] < 1) o.missing("strides");
    if (w.dilation[i] < 1) o.missing("dilation_rate");
  }
  return conv(cast(x, kernel.dtype()), kernel,
              conv_options(o.place(), x, w, padding, x.dim(-1) / kernel.dim(-2)));
}

// A kernel (window..., channels, multiplier) as one of as many groups as channels.
Tensor depthwise(const Operands& o, const Tensor& x, const Tensor& kernel) {
  if (kernel.rank() != x.rank() || kernel.dim(-2) != x.dim(-1)) o.missing("kernel");
  Ints grouped;
  for (int i = 0; i < kernel.rank() - 2; ++i) grouped.push_back(kernel.dim(i));
  grouped.insert(grouped.end(), {1, kernel.dim(-2) * kernel.dim(-1)});
  return convolved(o, x, reshape(kernel, grouped));
}

template <Tensor (*f)(const Operands&, const Tensor&, const Tensor&)>
Tensor convolution(const Operands& o) {
  const Tensor given = o.tensor(0, "inputs");
  const Tensor x = conv_input(o.place(), given.rank() - 2, format_of(o), given);
  return conv_result(o.place(), format_of(o), f(o, x, o.tensor(1, "kernel")));
}

Tensor separable(const Operands& o) {
  const Tensor given = o.tensor(0, "inputs");
  const Tensor x = conv_input(o.place(), given.rank() - 2, format_of(o), given);
  const Tensor y = depthwise(o, x, o.tensor(1, "depthwise_kernel")), points = o.tensor(2, "pointwise_kernel");
  if (points.rank() != y.rank()) o.missing("pointwise_kernel");
  return conv_result(o.place(), format_of(o), conv(y, points));
}

template <bool is_max, bool adaptive>
Tensor pool(const Operands& o) {
  const Tensor x = o.tensor(0, "inputs");
  const int rank = x.rank() - 2;
  if (rank < 1 || rank > 3) o.missing("inputs");
  const std::string name =
      concat(adaptive ? "Adaptive" : "", is_max ? "Max" : "Average", "Pooling", rank, "D");
  return o.by_layer(name, o.kept({"pool_size", "output_size", "strides", "padding", "data_format"}), x);
}

// ---- normalizations ----------------------------------------------------------------------------

Tensor wide(const Tensor& x) { return x.dtype() == DType::f64 ? x : cast(x, DType::f32); }
double epsilon_of(const Operands& o) { return o.real(SIZE_MAX, "epsilon", kEpsilon); }
Ints axes_of(const Operands& o, std::string_view name, int rank) {
  Ints axes = o.ints(SIZE_MAX, name);
  if (axes.empty()) axes = {-1};
  for (int64_t& axis : axes) axis = from_front(o, axis, rank);
  std::sort(axes.begin(), axes.end());
  return axes;
}

// A weight along `axes` in x's shape; one that has all of x's axes is so already.
Tensor along(const Operands& o, const Tensor& weight, const Tensor& x, const Ints& axes) {
  if (weight.rank() == x.rank()) return wide(weight);
  Ints sizes(static_cast<size_t>(x.rank()), 1);
  int64_t elements = 1;
  for (const int64_t axis : axes) {
    sizes[static_cast<size_t>(axis)] = x.dim(static_cast<int>(axis));
    elements = checked_mul(elements, sizes[static_cast<size_t>(axis)], o.place());
  }
  if (weight.shape().elements() != elements) o.missing("axis");
  return reshape(wide(weight), sizes);
}

Tensor layer_normalization(const Operands& o) {
  const Tensor given = x_of(o), x = wide(given);
  if (o.flag(SIZE_MAX, "rms_scaling")) unsupported(o, "layer_normalization with rms_scaling");
  const Ints axes = axes_of(o, "axis", x.rank());
  const Tensor centred = x - mean(x, axes, true);
  Tensor y = centred * rsqrt(mean(square(centred), axes, true) + epsilon_of(o));
  if (o.option(1, "gamma")) y = y * along(o, o.tensor(1, "gamma"), x, axes);
  if (o.option(2, "beta")) y = y + along(o, o.tensor(2, "beta"), x, axes);
  return cast(y, given.dtype());
}

// Keras multiplies by the scale as it is: it broadcasts.
Tensor rms_normalization(const Operands& o) {
  const Tensor given = x_of(o), x = wide(given);
  Tensor y = x * rsqrt(mean(square(x), axes_of(o, "axis", x.rank()), true) + epsilon_of(o));
  if (o.option(1, "scale")) y = y * wide(o.tensor(1, "scale"));
  return cast(y, given.dtype());
}

Tensor batch_normalization(const Operands& o) {
  const Tensor x = x_of(o);
  const Ints axes = axes_of(o, "axis", x.rank());
  const auto part = [&](size_t i, std::string_view name) {
    return cast(along(o, o.tensor(i, name), x, axes), x.dtype());
  };
  Tensor y = (x - part(1, "mean")) * rsqrt(part(2, "variance") + o.real(SIZE_MAX, "epsilon", 1e-3));
  if (o.option(4, "scale")) y = y * part(4, "scale");
  if (o.option(3, "offset")) y = y + part(3, "offset");
  return y;
}

// ---- attention ---------------------------------------------------------------------------------

// (batch, length, heads, width); fewer heads of keys and values are shared by groups of queries.
Tensor attention(const Operands& o) {
  const Tensor q = o.tensor(0, "query");
  Tensor k = o.tensor(1, "key"), v = o.tensor(2, "value");
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4 || k.dim(2) < 1 || q.dim(2) % k.dim(2) != 0)
    o.missing("query");
  if (o.option(SIZE_MAX, "attn_logits_soft_cap")) unsupported(o, "attention with attn_logits_soft_cap");
  const int64_t group = q.dim(2) / k.dim(2);
  for (Tensor* x : {&k, &v}) {
    if (group == 1) break;
    const Shape s = x->shape();
    *x = reshape(broadcast_to(expand_dims(*x, 3), Shape{s[0], s[1], s[2], group, s[3]}),
                 Shape{s[0], s[1], s[2] * group, s[3]});
  }
  const double scale = o.real(5, "scale", 1 / std::sqrt(static_cast<double>(q.dim(3))));
  Tensor logits = wide(einsum("btnh,bsnh->bnts", q, k, o.place())) * scale;
  // (batch, heads, queries, keys); with fewer axes the heads' is missing, then the batch's.
  const auto of_rank_4 = [&](Tensor x) {
    while (x.rank() < 4) x = expand_dims(x, x.rank() == 3 ? 1 : 0);
    return x;
  };
  if (o.option(3, "bias")) logits = logits + wide(of_rank_4(o.tensor(3, "bias")));
  const Tensor least = scalar_like(logits, -0.7 * std::numeric_limits<float>::max());
  if (o.option(4, "mask")) logits = where(of_rank_4(to_bool(o.tensor(4, "mask"))), logits, least);
  if (o.flag(SIZE_MAX, "is_causal")) {
    const Shape pairs{q.dim(1), k.dim(1)};
    logits = where(less_equal(iota(DType::i32, pairs, 1), iota(DType::i32, pairs, 0)), logits, least);
  }
  return einsum("bnts,bsnh->btnh", cast(softmax(logits), v.dtype()), v, o.place());
}

// Which of the classes are among a sample's.
Tensor multi_hot(const Operands& o) {
  const Tensor x = o.tensor(0, "inputs");
  if (o.axis(2, "axis", -1) != -1 || o.flag(SIZE_MAX, "sparse"))
    unsupported(o, "multi_hot along another axis");
  if (x.rank() < 1) o.missing("inputs");
  const Tensor all =
      one_hot(cast(x, DType::i32), o.integer(1, "num_classes"), o.dtype(3, "dtype", DType::f32));
  return max(all, {x.rank() > 1 ? 1 : 0});
}

}  // namespace

const Functions& network_functions() {
  static const Functions all_functions = {
      {"Conv", convolution<convolved>},
      {"DepthwiseConv", convolution<depthwise>},
      {"SeparableConv", separable},
      {"MaxPool", pool<true, false>},
      {"AveragePool", pool<false, false>},
      {"AdaptiveMaxPool", pool<true, true>},
      {"AdaptiveAveragePool", pool<false, true>},
      {"LayerNorm", layer_normalization},
      {"RMSNorm", rms_normalization},
      {"BatchNorm", batch_normalization},
      {"DotProductAttention", attention},
      {"MultiHot", multi_hot},
  };
  return all_functions;
}

}  // namespace plimsoll::operation

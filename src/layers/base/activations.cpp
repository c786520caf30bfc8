#include "common/json.h"
#include "common/names.h"
#include "layers/base/config_json.h"
#include "layers/base/plain_activation.h"
#include "plimsoll/activations.h"

#include "plimsoll/error.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/nn.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

constexpr double kShrink = 0.5;  // Keras's default threshold of the two shrinks

Tensor zeros_like(const Tensor& x) { return scalar_like(x, 0); }

Tensor glu(const Tensor& x) {
  const int last = x.rank() - 1;
  require(last >= 0 && x.dim(last) % 2 == 0, "glu", "expected an even last axis, got shape ", x.shape());
  const auto half = [&](int64_t which) {
    Ints start(static_cast<size_t>(x.rank()), 0);
    Ints limit(x.shape().begin(), x.shape().end());
    start.back() = which * x.dim(last) / 2;
    limit.back() = start.back() + x.dim(last) / 2;
    return slice(x, start, limit);
  };
  return half(0) * sigmoid(half(1));
}

Tensor sparse_plus(const Tensor& x) {
  const Tensor middle = square(x + 1.0) * 0.25;
  return where(less_equal(x, scalar_like(x, -1)), zeros_like(x),
               where(less(x, scalar_like(x, 1)), middle, x));
}

Tensor soft_shrink(const Tensor& x) {
  const Tensor below = where(less(x, scalar_like(x, -kShrink)), x + kShrink, zeros_like(x));
  return where(greater(x, scalar_like(x, kShrink)), x - kShrink, below);
}

// Sorting, as it is usually written, only serves to find for each element the number and the sum of those
// that are not smaller; comparing all pairs does too. The threshold adds up all partial sums, as Keras's
// does: with more than one element in the support that is not the projection on the simplex of the
// literature.
Tensor sparsemax(const Tensor& z) {
  const Tensor other = expand_dims(z, z.rank() - 1);  // z_j along the last axis, for each z_i
  const Tensor not_smaller = cast(greater_equal(other, expand_dims(z, -1)), z.dtype());
  const Tensor count = sum(not_smaller, {-1});
  const Tensor total = sum(not_smaller * other, {-1});
  const Tensor support = cast(greater(z - (total - 1.0) / count, zeros_like(z)), z.dtype());
  const Tensor threshold = (sum(support * total, {-1}, true) - 1.0) / sum(support, {-1}, true);
  return maximum(z - threshold, zeros_like(z));
}

Tensor apply_layer(std::string_view json, const Tensor& x) {
  const ConfigJson layer = ConfigJson::parse(json, nullptr, false);
  const std::shared_ptr<Configurable> object = object_from_json(Family::layer, layer);
  const auto* plain = dynamic_cast<const PlainActivation*>(object.get());
  require(plain != nullptr, "activation", "expected a name or a layer without weights such as LeakyReLU, got a ",
          object ? object->class_name() : "null", "; put it behind the layer instead");
  return plain->apply(x);
}

Tensor hard_silu_of(const Tensor& x) { return hard_silu(x); }
Tensor silu_of(const Tensor& x) { return silu(x); }

struct Row {
  std::string_view name;
  Tensor (*apply)(const Tensor& x);
};

constexpr Row kRows[] = {
    {"linear", [](const Tensor& x) { return x; }},
    {"relu", [](const Tensor& x) { return relu(x); }},
    {"relu6", [](const Tensor& x) { return relu6(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
    {"elu", [](const Tensor& x) { return elu(x); }},
    {"selu", [](const Tensor& x) { return selu(x); }},
    {"celu", [](const Tensor& x) { return elu(x); }},  // with alpha 1 the two are one
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"silu", silu_of},
    {"swish", silu_of},
    {"mish", [](const Tensor& x) { return x * tanh(softplus(x)); }},
    {"glu", glu},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
    {"hard_sigmoid", [](const Tensor& x) { return hard_sigmoid(x); }},
    // What Keras 1 and 2 call hard_sigmoid; files of theirs need it.
    {"hard_sigmoid_keras2", [](const Tensor& x) { return clip(x * 0.2 + 0.5, 0, 1); }},
    {"hard_silu", hard_silu_of},
    {"hard_swish", hard_silu_of},
    {"log_sigmoid", [](const Tensor& x) { return negative(softplus(negative(x))); }},
    {"sparse_sigmoid", [](const Tensor& x) { return clip((x + 1.0) * 0.5, 0, 1); }},
    {"tanh", [](const Tensor& x) { return tanh(x); }},
    {"hard_tanh", [](const Tensor& x) { return clip(x, -1, 1); }},
    {"tanh_shrink", [](const Tensor& x) { return x - tanh(x); }},
    {"soft_shrink", soft_shrink},
    {"hard_shrink",
     [](const Tensor& x) { return where(greater(absolute(x), scalar_like(x, kShrink)), x, zeros_like(x)); }},
    {"softplus", [](const Tensor& x) { return softplus(x); }},
    {"sparse_plus", sparse_plus},
    {"squareplus", [](const Tensor& x) { return (x + sqrt(square(x) + 4.0)) * 0.5; }},
    {"softsign", [](const Tensor& x) { return x / (absolute(x) + 1.0); }},
    {"exponential", [](const Tensor& x) { return exp(x); }},
    {"softmax", [](const Tensor& x) { return softmax(x); }},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
    {"sparsemax", sparsemax},
};

}  // namespace

Tensor activate(std::string_view name, const Tensor& x) {
  if (name.empty()) return x;
  if (is_activation_layer(name)) return apply_layer(name, x);
  for (const Row& row : kRows) {
    if (row.name == name) return row.apply(x);
  }
  fail(ErrorKind::not_found, "activation", "there is none called '", name,
       "'; there are: ", nearest_first(name, activation_names()));
}

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace plimsoll

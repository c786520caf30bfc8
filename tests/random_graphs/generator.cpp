#include "random_graphs/generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plimsoll/autodiff.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "random_graphs/layer_steps.h"

namespace plimsoll::testing {
namespace {

constexpr int kInputs = 3;
constexpr int64_t kLargest = 8192;  // elements of any value

Shape random_shape(Choice& choice) {
  static constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 17};
  Ints sizes(static_cast<size_t>(choice.below(4)));
  for (int64_t& size : sizes) size = kSizes[choice.below(8)];
  return Shape(sizes);
}

// Some axes of x, at least one unless it is a scalar.
Ints random_axes(Choice& choice, const Tensor& x) {
  Ints axes;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (choice.coin()) axes.push_back(axis);
  }
  if (axes.empty() && x.rank() > 0) axes.push_back(choice.below(x.rank()));
  return axes;
}

// Steps that have kinks get their operand moved by an odd constant: two ways to compute the same zero may
// round to different sides of it.
Tensor off_kink(Choice& choice, const Tensor& x) { return x + choice.real(0.01, 0.3); }

// All are bounded or grow slowly, so that differences stay comparable after many steps.
Tensor unary(Choice& choice, const Tensor& x) {
  switch (choice.below(18)) {
    case 0: return tanh(x);
    case 1: return sigmoid(x);
    case 2: return sin(x);
    case 3: return cos(x);
    case 4: return erf(x);
    case 5: return exp(tanh(x));
    case 6: return log1p(square(x));
    case 7: return sqrt(square(x) + 1.0);
    case 8: return rsqrt(square(x) + 0.5);
    case 9: return negative(x);
    case 10: return square(tanh(x));
    case 11: return relu(off_kink(choice, x));
    case 12: return absolute(off_kink(choice, x));
    case 13: return clip(off_kink(choice, x), -0.7, 0.9);
    case 14: return silu(x);
    case 15: return softplus(x);
    case 16: return arctan(x);
    default: return gelu(x, choice.coin());
  }
}

bool broadcastable(const Shape& a, const Shape& b) {
  try {
    return broadcast(a, b, "test").elements() <= kLargest;
  } catch (const Error&) {
    return false;
  }
}

Tensor binary(Choice& choice, const Tensor& a, Tensor b) {
  if (!broadcastable(a.shape(), b.shape())) b = mean(b);
  switch (choice.below(7)) {
    case 0: return add(a, b);
    case 1: return subtract(a, b);
    case 2: return multiply(tanh(a), b);
    case 3: return divide(a, square(b) + 1.0);
    case 4: return maximum(a, off_kink(choice, b));
    case 5: return minimum(off_kink(choice, a), b);
    default: return where(greater(a, off_kink(choice, b)), a, multiply(b, scalar_like(b, 0.5)));
  }
}

Tensor reduction(Choice& choice, const Tensor& x) {
  const Ints axes = random_axes(choice, x);
  const bool keepdims = choice.coin();
  switch (choice.below(4)) {
    case 0: return sum(tanh(x), axes, keepdims);
    case 1: return mean(x, axes, keepdims);
    case 2: return x.shape().elements() > 0 ? max(x, axes, keepdims) : x;
    default: return variance(x, axes, keepdims);
  }
}

Tensor along_last_axis(Choice& choice, const Tensor& x) {
  if (x.rank() == 0) return x;
  switch (choice.below(4)) {
    case 0: return softmax(x);
    case 1: return log_softmax(x);
    case 2: return cumsum(x, static_cast<int>(choice.below(x.rank())), choice.coin());
    default:
      return layer_norm(x, Tensor::full(x.dtype(), {x.dim(-1)}, 1.2),
                        Tensor::full(x.dtype(), {x.dim(-1)}, 0.1), 1e-2);
  }
}

Tensor transposed(Choice& choice, const Tensor& x) {
  Ints permutation(static_cast<size_t>(x.rank()));
  std::iota(permutation.begin(), permutation.end(), 0);
  for (size_t i = permutation.size(); i > 1; --i) {
    std::swap(permutation[i - 1], permutation[static_cast<size_t>(choice.below(static_cast<int64_t>(i)))]);
  }
  return transpose(x, permutation);
}

Tensor reshaped(Choice& choice, const Tensor& x) {
  const int64_t n = x.shape().elements();
  for (const int64_t size : {7, 5, 3, 2}) {
    if (n % size == 0 && choice.coin()) return reshape(x, Shape{size, n / size});
  }
  return choice.coin() ? reshape(x, Shape{n}) : expand_dims(x, static_cast<int>(choice.below(x.rank() + 1)));
}

Tensor cut_or_padded(Choice& choice, const Tensor& x) {
  if (x.rank() == 0) return x;
  const auto axis = static_cast<size_t>(choice.below(x.rank()));
  Ints low(static_cast<size_t>(x.rank()), 0);
  Ints high(low);
  if (choice.coin()) {
    low[axis] = choice.below(3);
    high[axis] = choice.below(3);
    return pad(x, low, high, {}, 0.25);
  }
  Ints limits(x.shape().begin(), x.shape().end());
  Ints strides(static_cast<size_t>(x.rank()), 1);
  low[axis] = choice.below(limits[axis]);
  strides[axis] = 1 + choice.below(2);
  return slice(x, low, limits, strides);
}

Tensor moved(Choice& choice, const Tensor& x) {
  switch (choice.below(5)) {
    case 0: return transposed(choice, x);
    case 1: return reshaped(choice, x);
    case 2: return cut_or_padded(choice, x);
    case 3: return reverse(x, random_axes(choice, x));
    default: {
      const int64_t copies = 1 + choice.below(3);
      if (x.rank() == Shape::kMaxRank || x.shape().elements() * copies > kLargest) return x;
      return broadcast_to(x, x.shape().inserted(0, copies));
    }
  }
}

Tensor picked(Choice& choice, const Tensor& x) {
  if (x.rank() == 0) return x;
  const int axis = static_cast<int>(choice.below(x.rank()));
  if (choice.coin()) {
    const Tensor parts[] = {x, tanh(x)};
    return x.shape().elements() * 2 > kLargest ? x : concatenate(parts, axis);
  }
  const Tensor indices = fill(DType::i32, {3}, 0, static_cast<double>(x.dim(axis) - 1), 3);
  return take(x, indices, axis);
}

Tensor product(Choice& choice, const Tensor& x, const Tensor& y) {
  if (x.rank() == 0) return x;
  const int64_t rows = x.shape().elements() / x.dim(-1);
  const Tensor a = reshape(tanh(x), Shape{rows, x.dim(-1)});
  if (y.rank() > 0 && y.dim(-1) == x.dim(-1)) {
    const Tensor b = reshape(tanh(y), Shape{y.shape().elements() / y.dim(-1), y.dim(-1)});
    if (rows * b.dim(0) <= kLargest) return dot_general(a, b, {1}, {1});
  }
  const int64_t width = 1 + choice.below(6);
  const Tensor kernel = fill(x.dtype(), {x.dim(-1), width}, -1, 1, 11);
  if (choice.coin()) return matmul(a, kernel);
  static constexpr std::string_view kActivations[] = {"linear", "tanh", "sigmoid", "gelu"};
  return dense(a, kernel, fill(x.dtype(), {width}, -1, 1, 12), kActivations[choice.below(4)]);
}

// Bodies use a value of the outer graph too (`y`'s mean), which makes it a further operand. The predicates
// are decided by values that no pass can know and no rounding can turn.
Tensor controlled(Choice& choice, const Tensor& x, const Tensor& y) {
  const Tensor outside = tanh(mean(y));
  if (choice.coin() || x.rank() == 0 || x.dim(0) > 8) {
    const Tensor small = less(absolute(outside), scalar_like(outside, choice.coin() ? 2 : -1));
    const Body if_true = [&](std::span<const Tensor> in) { return std::vector{tanh(in[0]) + outside}; };
    const Body if_false = [&](std::span<const Tensor> in) { return std::vector{in[0] * outside}; };
    return cond(small, std::span(&x, 1), if_true, if_false)[0];
  }
  const Tensor start = sum(x, {0}) * 0.1;
  const Body body = [&](std::span<const Tensor> in) {
    const Tensor carry = tanh(in[0] + in[1] * outside);
    return std::vector{carry, sin(carry) + in[1]};
  };
  const std::vector<Tensor> out = scan(std::span(&start, 1), std::span(&x, 1), x.dim(0), body, choice.coin());
  return out[static_cast<size_t>(choice.below(2))];
}

Tensor step(uint64_t seed, const std::vector<Tensor>& pool) {
  Choice choice(seed);
  const auto pick = [&] {
    return pool[static_cast<size_t>(choice.below(static_cast<int64_t>(pool.size())))];
  };
  const Tensor x = choice.coin() ? pool.back() : pick();  // half the time a chain goes on
  switch (choice.below(17)) {
    case 0:
    case 1:
    case 2: return unary(choice, x);
    case 3:
    case 4:
    case 5: return binary(choice, x, pick());
    case 6:
    case 7: return reduction(choice, x);
    case 8: return along_last_axis(choice, x);
    case 9: return moved(choice, x);
    case 10: return picked(choice, x);
    case 11: return controlled(choice, x, pick());
    case 12: return product(choice, x, pick());
    default: return layer_step(choice, x, pick());
  }
}

void add_outputs(RandomGraph& made, const std::vector<Tensor>& pool, const Tensor& variable) {
  Graph& graph = made.graph;
  std::vector<bool> used(graph.values().size());
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.inputs) used[id] = true;
  }
  Tensor s;
  for (const Tensor& value : pool) {
    // A step that grew too large has read values too: the last one counts in any case.
    if (used[value.id()] && value.id() != pool.back().id()) continue;
    graph.output(concat("out", graph.outputs().size()), value);
    made.inputs.push_back(fill(value.dtype(), value.shape(), -1, 1, value.id()));
    const Tensor weights = graph.input(concat("w", made.inputs.size()), value.dtype(), value.shape());
    const Tensor part = sum(multiply(value, weights));
    s = s.defined() ? add(s, part) : part;
  }
  std::vector<Tensor> xs(pool.begin(), pool.begin() + kInputs + 1);
  for (const Tensor& g : gradients(s, xs)) graph.output(concat("d", graph.outputs().size()), g);
  for (auto it = pool.rbegin(); it != pool.rend(); ++it) {
    if (it->type() != variable.type()) continue;
    graph.update(variable, *it);
    break;
  }
}

}  // namespace

Recipe random_recipe(uint64_t seed) {
  Choice choice(seed);
  static constexpr DType kDTypes[] = {DType::f32, DType::f32,  DType::f32,
                                      DType::f64, DType::bf16, DType::f16};
  Recipe recipe{.seed = seed, .dtype = kDTypes[choice.below(6)], .steps = {}};
  const int64_t steps = size_of(recipe.dtype) == 2 ? 1 + choice.below(4) : 2 + choice.below(22);
  for (int64_t i = 0; i < steps; ++i) recipe.steps.push_back(hash_at(seed, static_cast<uint64_t>(1000 + i)));
  return recipe;
}

RandomGraph build(const Recipe& recipe) {
  RandomGraph made;
  Choice choice(hash_at(recipe.seed, 1));
  std::vector<Tensor> pool;
  for (int i = 0; i < kInputs; ++i) {
    const Shape shape = random_shape(choice);
    made.inputs.push_back(
        fill(recipe.dtype, shape, -2, 2, hash_at(recipe.seed, static_cast<uint64_t>(10 + i))));
    pool.push_back(made.graph.input(concat("x", i), recipe.dtype, shape));
  }
  made.variable = fill(recipe.dtype, random_shape(choice), -2, 2, hash_at(recipe.seed, 20));
  const Tensor variable = made.graph.variable("v", made.variable);
  pool.push_back(variable);
  for (const uint64_t seed : recipe.steps) {
    const Tensor next = step(seed, pool);
    if (next.shape().elements() <= kLargest && next.rank() <= 5) pool.push_back(next);
  }
  add_outputs(made, pool, variable);
  return made;
}

}  // namespace plimsoll::testing

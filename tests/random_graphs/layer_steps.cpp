#include "random_graphs/layer_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "plimsoll/ops.h"

namespace plimsoll::testing {
namespace {

// The elements of x in another shape: cut off, or followed by others of which no two are alike.
Tensor as(Choice& choice, const Tensor& x, const Shape& shape) {
  const int64_t n = x.shape().elements(), want = shape.elements();
  Tensor flat = reshape(tanh(x), Shape{n});
  if (n > want) flat = slice(flat, {0}, {want});
  if (n < want) {
    const Tensor parts[] = {flat, fill(x.dtype(), {want - n}, -1, 1, choice.seed())};
    flat = concatenate(parts, 0);
  }
  return reshape(flat, shape);
}

// A weight whose products with values of order 1 add up to values of order 1.
Tensor weight(Choice& choice, const Tensor& like, const Shape& shape, int64_t terms) {
  const double limit = 1.5 / std::sqrt(static_cast<double>(std::max<int64_t>(1, terms)));
  return fill(like.dtype(), shape, -limit, limit, choice.seed());
}

// Full panels of channels and enough tiles for Winograd's kernels, now and then.
Shape image_shape(Choice& choice) {
  if (choice.below(4) == 0) return {2, 10, 10, 32};
  return {1 + choice.below(2), 4 + choice.below(4), 3 + choice.below(5),
          choice.of<int64_t>({1, 3, 4, 8, 16})};
}

Tensor convolved(Choice& choice, const Tensor& x, const Tensor& y) {
  const Tensor image = as(choice, x, image_shape(choice));
  const int64_t c = image.dim(-1), size = choice.of<int64_t>({1, 3, 3, 2}),
                groups = choice.below(5) == 0 ? c : 1;
  const int64_t filters = groups == c ? c : choice.of<int64_t>({2, 5, 16, 32});
  const int64_t stride = choice.below(4) == 0 ? 2 : 1, pad = choice.below(2);
  const ConvOptions options{
      .strides = {stride, stride}, .pad_low = {pad, pad}, .pad_high = {pad, 1}, .groups = groups};
  const Tensor kernel = weight(choice, x, {size, size, c / groups, filters}, size * size * c / groups);
  const Tensor bias = weight(choice, x, {filters}, 1);
  switch (choice.below(5)) {
    case 0: return conv(image, kernel, options);
    case 1:
      return conv_bias(image, kernel, bias, options, choice.of<std::string_view>({"linear", "tanh", "gelu"}));
    case 2: return sigmoid(conv(image, kernel, options) + bias);
    case 3: {  // a batch normalisation that inference folds in, and what joins the result
      const Tensor z = conv(image, kernel, options);
      const Tensor spread = fill(x.dtype(), {filters}, 0.5, 1.5, choice.seed());
      const Tensor n = batch_norm_inference(z, bias, spread, spread, bias, 1e-2);
      return tanh(choice.coin() ? n + as(choice, y, n.shape()) : n);
    }
    default: {  // the kernel is a value too
      return conv(image, as(choice, y, kernel.shape()) * 0.2, options);
    }
  }
}

Tensor pooled(Choice& choice, const Tensor& x) {
  const Tensor image =
      as(choice, x, image_shape(choice)) + fill(x.dtype(), {1, 1, 1, 1}, 0, 0.1, choice.seed());
  const int64_t size = 2 + choice.below(2), stride = 1 + choice.below(2), pad = choice.below(2);
  const PoolOptions options{
      .window = {size, size}, .strides = {stride, stride}, .pad_low = {pad, 0}, .pad_high = {0, pad}};
  return choice.coin() ? max_pool(image, options) : average_pool(image, options);
}

Tensor batch_normalised(Choice& choice, const Tensor& x, const Tensor& y) {
  const Tensor image = as(choice, x, image_shape(choice));
  const Shape c{image.dim(-1)};
  const Tensor gamma = fill(x.dtype(), c, 0.5, 1.5, choice.seed()),
               beta = fill(x.dtype(), c, -1, 1, choice.seed());
  const std::vector<Tensor> out = batch_norm(image, gamma, beta, 1e-2);
  switch (choice.below(5)) {
    case 0: return relu(out[0]);
    case 1: return relu(out[0] + as(choice, y, image.shape()));
    case 2: return out[0] * out[1] + sqrt(out[2] + 0.1);
    case 3: return relu(out[0] + 0.125) * out[0];  // read twice: nothing for the pass
    default: return out[0];
  }
}

// mean and variance written out as the matcher of layer_norm looks for it, or nearly.
Tensor layer_normalised(Choice& choice, const Tensor& x, const Tensor& y) {
  const Shape shape{2 + choice.below(4), 3 + choice.below(6), choice.of<int64_t>({4, 7, 8, 33})};
  const Tensor rows = as(choice, x, shape);
  const int axis = choice.below(4) == 0 ? 1 : 2;
  const Tensor d = rows - mean(rows, {axis}, true);
  const Tensor other = choice.below(4) == 0 ? as(choice, y, shape) : d;
  const Tensor h = d * rsqrt(mean(square(other), {axis}, true) + choice.of({1e-2, 0.3}));
  const Tensor gamma = fill(x.dtype(), {shape[2]}, 0.5, 1.5, choice.seed());
  return h * gamma + fill(x.dtype(), {choice.coin() ? shape[2] : 1}, -1, 1, choice.seed());
}

Tensor recurrent(Choice& choice, const Tensor& x, const Tensor& y) {
  const int64_t n = 1 + choice.below(3), t = 1 + choice.below(5), f = choice.of<int64_t>({1, 3, 8}),
                u = choice.of<int64_t>({2, 5, 8, 16});
  const Tensor sequence = as(choice, x, {n, t, f}), h = as(choice, y, {n, u});
  const bool reverse = choice.coin();
  if (choice.coin()) {
    const std::vector<Tensor> out =
        lstm(sequence, h, fill(x.dtype(), {n, u}, -1, 1, choice.seed()), weight(choice, x, {f, 4 * u}, f),
             weight(choice, x, {u, 4 * u}, u), weight(choice, x, {4 * u}, 1), reverse);
    return out[static_cast<size_t>(choice.below(3))];
  }
  const std::vector<Tensor> out =
      gru(sequence, h, weight(choice, x, {f, 3 * u}, f), weight(choice, x, {u, 3 * u}, u),
          weight(choice, x, {2, 3 * u}, 1), reverse);
  return out[static_cast<size_t>(choice.below(2))];
}

Tensor attended(Choice& choice, const Tensor& x, const Tensor& y) {
  const int64_t n = 1 + choice.below(2), q = 1 + choice.below(9), k = 1 + choice.below(9),
                heads = 1 + choice.below(3), width = choice.of<int64_t>({2, 4, 8});
  const Tensor a = as(choice, x, {n, q, heads, width}), b = as(choice, y, {n, k, heads, width});
  const Tensor v = as(choice, y, {n, k, heads, 3});
  if (choice.coin()) {
    const Tensor bias = choice.coin() ? fill(x.dtype(), {n, 1, 1, k}, -1, 1, choice.seed()) : Tensor();
    return attention(a, b, v, bias, 0.5, choice.coin());
  }
  // Written out, as the matcher looks for it; with a weight that depends on the key it may not match.
  Tensor scores = dot_general(a, b, {3}, {3}, {0, 2}, {0, 2});
  if (choice.coin()) scores = scores * 0.5;
  if (choice.below(4) == 0) scores = scores * fill(x.dtype(), {k}, 0.5, 1.5, choice.seed());
  return dot_general(softmax(scores, choice.below(4) == 0 ? 2 : -1), v, {3}, {1}, {0, 1}, {0, 2});
}

Tensor looked_up(Choice& choice, const Tensor& x) {
  const int64_t rows = 2 + choice.below(20), width = choice.of<int64_t>({1, 3, 8, 17});
  const Tensor table = as(choice, x, {rows, width});
  const Shape shape = choice.coin() ? Shape{5} : Shape{2, 3};
  return embedding(table, fill(DType::i32, shape, -static_cast<double>(rows), static_cast<double>(rows - 1),
                               choice.seed()));
}

// A random permutation of axes.
Ints shuffled(Choice& choice, int rank) {
  Ints order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<size_t>(choice.below(static_cast<int64_t>(i)))]);
  return order;
}

// An operand of a contraction with its axes (batch, contracted twice, free) in any order; `at` says where
// each went.
Tensor operand(Choice& choice, const Tensor& x, const Ints& sizes, Ints& at) {
  const Ints order = shuffled(choice, static_cast<int>(sizes.size()));
  Ints shape(sizes.size());
  at.assign(sizes.size(), 0);
  for (size_t place = 0; place < order.size(); ++place) {
    shape[place] = sizes[static_cast<size_t>(order[place])];
    at[static_cast<size_t>(order[place])] = static_cast<int64_t>(place);
  }
  return as(choice, x, Shape(shape));
}

Tensor contracted(Choice& choice, const Tensor& x, const Tensor& y) {
  const int64_t batch = 1 + choice.below(3), k = 1 + choice.below(6), l = 1 + choice.below(4);
  Ints at, bt;
  const Tensor a = operand(choice, x, {batch, k, l, 1 + choice.below(9)}, at);
  const Tensor b = operand(choice, y, {batch, k, l, 1 + choice.below(9), 1 + choice.below(3)}, bt);
  return dot_general(a, b, {at[1], at[2]}, {bt[1], bt[2]}, {at[0]}, {bt[0]}) * 0.3;
}

Tensor scattered(Choice& choice, const Tensor& x, const Tensor& y) {
  const Tensor a = as(choice, x, {6, 5});
  const double rows = 5;
  switch (choice.below(5)) {
    case 0: return gather_nd(a, fill(DType::i32, {7, 2}, 0, 4, choice.seed()));
    case 1: return gather_nd(a, fill(DType::i32, {3, 1}, -6, rows, choice.seed()));
    case 2:
      return scatter_nd(a, fill(DType::i32, {4, 1}, 0, rows, choice.seed()), as(choice, y, {4, 5}), "add");
    case 3: return dynamic_slice(a, fill(DType::i32, {2}, 0, 4, choice.seed()), {2, 3});
    default:
      return dynamic_update_slice(a, as(choice, y, {2, 3}), fill(DType::i32, {2}, 0, 4, choice.seed()));
  }
}

Tensor windowed(Choice& choice, const Tensor& x) {
  const Tensor a = as(choice, x, {7, 9});
  const Ints window{1 + choice.below(3), 2 + choice.below(3)},
      strides{1 + choice.below(2), 1 + choice.below(3)};
  const Ints low{choice.below(window[0] > 1 ? 2 : 1), 0}, high{0, choice.below(2)};
  return choice.coin() ? reduce_window_sum(a, window, strides, low, high) * 0.3
                       : reduce_window_max(a, window, strides, low, high);
}

Tensor lost(Choice& choice, const Tensor& x, const Tensor& y) {
  const Shape shape{2 + choice.below(5), 2 + choice.below(9)};
  const Tensor logits = as(choice, x, shape) * 2.0;
  switch (choice.below(3)) {
    case 0:
      return sparse_softmax_cross_entropy(
          logits, fill(DType::i32, {shape[0]}, 0, static_cast<double>(shape[1] - 1), choice.seed()));
    case 1: return softmax_cross_entropy(logits, sigmoid(as(choice, y, shape)));
    default:  // written out, over the right axis or the other
      return negative(
          sum(log_softmax(logits) * sigmoid(as(choice, y, shape)), {choice.below(4) == 0 ? 0 : 1}));
  }
}

}  // namespace

Tensor layer_step(Choice& choice, const Tensor& x, const Tensor& y) {
  switch (choice.below(12)) {
    case 0:
    case 1: return convolved(choice, x, y);
    case 2: return pooled(choice, x);
    case 3: return batch_normalised(choice, x, y);
    case 4: return layer_normalised(choice, x, y);
    case 5: return recurrent(choice, x, y);
    case 6: return attended(choice, x, y);
    case 7: return looked_up(choice, x);
    case 8: return contracted(choice, x, y);
    case 9: return scattered(choice, x, y);
    case 10: return windowed(choice, x);
    default: return lost(choice, x, y);
  }
}

}  // namespace plimsoll::testing
